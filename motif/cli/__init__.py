"""The command line: one module a command group; whatever a command needs, it imports when it runs."""
