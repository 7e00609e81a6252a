"""Servers for other programs and for the page: gnubg's external player, UBGI, and HTTP."""
