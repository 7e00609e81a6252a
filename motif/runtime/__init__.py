"""What every floor may use: errors, random streams, JIT options, parallel execution, progress, files."""
