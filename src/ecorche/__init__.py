"""An écorché under any rigged character: skeleton, muscles, fat and skin that move as in life."""

__version__ = "0.1.0"
