"""Analyses: why a play is better, how a match was played, which features an evaluator weighs."""
