"""Compiled kernels.

numba compiles numerical functions, and their machine code is cached.  Nothing here depends on the program
that uses it, which introduces itself by `program.configure`.
"""
