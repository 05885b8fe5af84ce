"""The handbook: a static site made of the pages in `docs/` and of what the program says of itself."""
