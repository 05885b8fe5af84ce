"""One file a format; `formats` finds the right one by suffix."""
