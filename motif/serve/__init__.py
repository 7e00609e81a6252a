"""motif for other programs: gnubg's external player, UBGI, HTTP."""
