"""Services for all other packages: errors, files, progress, parallel execution, random streams."""
