"""Scripts of the maintainers: each measures something and writes it into a page of the docs."""
