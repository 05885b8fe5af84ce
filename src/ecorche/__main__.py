"""`python -m ecorche` is the `ecorche` command."""

from ecorche.cli.main import run

run()
