"""Learning without prior knowledge: sample, label, fit, and repeat with the result."""
