"""Compilation of kernels.

numba compiles numerical functions, and their machine code is cached.  The package does not depend on the
program that uses it, which calls `program.configure`.
"""
