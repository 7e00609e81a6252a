"""Other programs ask motif: gnubg's protocol for external players, UBGI, HTTP."""
