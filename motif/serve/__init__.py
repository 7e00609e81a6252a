"""Other programs ask motif: over HTTP, by gnubg's protocol for external players, by UBGI."""
