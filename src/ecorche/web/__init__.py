"""Characters whose muscles play in a browser: the file, the page around it, and its library."""
