# motif with all kernels precompiled: `docker build -t motif .`, then `docker run -it motif play`.
# As an HTTP server: `docker build --target server -t motif-server .`, then
# `docker run -p 127.0.0.1:8080:8080 motif-server`.
FROM python:3.12-slim AS build
COPY . /source
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /dist /source

FROM python:3.12-slim AS motif
COPY --from=build /dist /dist
RUN pip install --no-cache-dir "$(echo /dist/*.whl)[onnx,serve]" && rm -r /dist
RUN useradd --create-home player && mkdir /games && chown player /games
USER player
WORKDIR /games
# Kernels are compiled for this machine's processor; on a different one they are compiled again when needed.
RUN motif warm
ENTRYPOINT ["motif"]

FROM motif AS server
EXPOSE 8080
# Only published ports of a container can be reached from outside.
CMD ["serve", "http", "--host", "0.0.0.0"]

FROM motif
CMD ["--help"]
