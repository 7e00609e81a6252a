"""Labelled positions from self-play, and their dataset."""
