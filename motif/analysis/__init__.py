"""What is found out: why a play is better, how a match was played, what an evaluator looks at."""
