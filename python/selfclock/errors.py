"""The two kinds of errors that a command reports in one message."""

from __future__ import annotations


class BadInputError(Exception):
    """Something given cannot be used; the message says what is allowed. Commands end with status 2."""


class WorkError(Exception):
    """Work that began could not be done. Commands end with status 1."""
