"""The command line, with one module per group of commands; commands import what they need when they run."""
