"""What a person reads of a run: plots and the HTML report."""
