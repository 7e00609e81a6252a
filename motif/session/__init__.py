"""A game with people: its state, the table that they sit at, and the tutor."""
