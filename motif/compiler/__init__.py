"""Compile numerical functions with numba and cache their machine code.

Nothing here depends on the program that uses it, which introduces itself by `program.configure`.
"""
