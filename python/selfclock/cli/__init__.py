"""The command line. Tables and JSON documents go to standard output; messages, notes and progress to standard error."""

from selfclock.cli.app import app, main

__all__ = ["app", "main"]
