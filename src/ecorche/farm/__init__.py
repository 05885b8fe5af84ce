"""Bakes on many processes and machines: shot lists, parts of a shot, and what runs them."""
