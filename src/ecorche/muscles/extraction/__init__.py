"""Muscles found in a finished skin (text 001): sections, their bumps, bumps linked into muscles."""
