"""Explanations of plays and of position values."""
