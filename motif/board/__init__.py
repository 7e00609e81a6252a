"""The rules: positions, plays, games, and how they are written and drawn."""
