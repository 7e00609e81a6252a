# motif with every kernel compiled: `docker build -t motif .`, then `docker run -it motif play`.
FROM python:3.12-slim AS build
COPY . /source
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /dist /source

FROM python:3.12-slim
COPY --from=build /dist /dist
RUN pip install --no-cache-dir "$(echo /dist/*.whl)[onnx]" && rm -r /dist
RUN useradd --create-home player && mkdir /games && chown player /games
USER player
WORKDIR /games
# Kernels are compiled for this machine's processor; on one that differs they are compiled anew when needed.
RUN motif warm
ENTRYPOINT ["motif"]
CMD ["--help"]
