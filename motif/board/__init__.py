"""Rules of backgammon: positions, plays and match records, with their notations and diagrams."""
