"""Match analysis: error rates, luck, cube mistakes and the worst decisions with reasons."""
