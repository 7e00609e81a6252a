"""What an evaluator with weights looks at, measured on many positions."""
