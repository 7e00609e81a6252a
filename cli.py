"""Runs motif from a checkout: ``python cli.py COMMAND``."""

import sys

from motif.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
