"""Fits from labels to weights: solvers for the terms of one head.

The modules build on each other: `terms` (constant, features and pairs), `design` (products with the matrix of
terms), `problem` (the link, checked data and settings), `objective` (the error and its gradient), the solvers
(`coordinate`, `gauss_newton`, `keith_descent`, and SciPy in `least_squares`) and `solve` (the solvers by
name). All solvers minimise the same error and return an `objective.FitResult`.
"""
