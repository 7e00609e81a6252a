"""The rules: positions, dice, legal plays, outcomes; and how people and programs write them down."""
