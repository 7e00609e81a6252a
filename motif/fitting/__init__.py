"""Fits from labels to weights: of terms, of hidden units and of move filters.

For the terms of one head, the modules build on each other: `terms` (constant, features and pairs), `design`
(products with the matrix of terms), `problem` (the link, checked data and settings), `objective` (the error
and its gradient), the solvers (`coordinate`, `gauss_newton`, `keith_descent`, and SciPy in `least_squares`)
and `solvers`, which selects one by name. All solvers minimise the same error and return an
`objective.FitResult`. `hidden_fit` fits hidden units and the pairs of all heads of a class together, by
`adam`; `filter_fit` fits the scores of a move filter.
"""
