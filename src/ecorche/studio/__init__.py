"""The studio: a rig posed, built and seen in a browser, on the same document and code as the command line."""
