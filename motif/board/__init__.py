"""The rules: positions, plays and games, their notations and diagrams."""
