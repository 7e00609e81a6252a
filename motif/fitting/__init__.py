"""From labels to weights: the solvers that fit the terms of measured parameters for one head.

One idea a module: `terms` (what is weighted) -> `design` (products with the matrix of terms) ->
`problem` (the squash, validated data and settings) -> `objective` (the error and its gradient) ->
solvers (`coordinate`, `gauss_newton`, `keith_descent`, `least_squares` by SciPy) -> `solve` (one table of
them).  Every solver minimises the same error and returns the same `objective.FitResult`.
"""
