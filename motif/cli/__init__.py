"""The command-line interface: one module per group of commands, which import what they need when they run."""
