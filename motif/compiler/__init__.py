"""Compiles the functions that numbers go through, with numba, and keeps their machine code."""
