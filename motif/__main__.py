"""Run motif: ``python -m motif COMMAND``, like the installed command ``motif``."""

import sys


def run() -> int:
    """Run the command line; return the exit code, also for Ctrl-C while modules are imported."""
    try:
        from motif.cli.main import main
    except KeyboardInterrupt:
        print("motif: interrupted", file=sys.stderr)
        return 130
    return main()


if __name__ == "__main__":
    sys.exit(run())
