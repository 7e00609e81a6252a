"""Other programs and a browser are answered: by gnubg's protocol, UBGI, HTTP, and the page."""
