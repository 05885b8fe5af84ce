"""Pictures and films, offscreen."""
