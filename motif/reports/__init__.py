"""Plots and pages: what a person reads of a run, an analysis, a match."""
