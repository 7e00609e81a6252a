"""From labels to weights: the solvers that fit the terms of measured parameters for one head.

One idea a module: `terms` (what is weighted) -> `design` (products with the matrix of terms) ->
`link` (the squash) -> `problem` (validated data and settings) -> `objective` (the error and its
gradient) -> the three solvers (`coordinate`, `least_squares`, `gauss_newton`) -> `solve` (one
table of them).  Every solver minimises the same error and returns the same `objective.FitResult`.
"""
