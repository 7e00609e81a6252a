"""Run motif from a checkout: ``python cli.py COMMAND``."""

import sys

try:
    from motif.cli.main import main
except KeyboardInterrupt:
    print("motif: interrupted", file=sys.stderr)
    sys.exit(130)
except ModuleNotFoundError as error:
    package = (error.name or "motif").partition(".")[0]
    if package == "motif":
        raise
    print(
        f"motif: error: {package} is not installed: run `make demo` once,"
        " then `.venv/bin/python cli.py ...`, or activate .venv first",
        file=sys.stderr,
    )
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(main())
