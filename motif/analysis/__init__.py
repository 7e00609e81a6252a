"""Analysis of plays, matches and evaluators."""
