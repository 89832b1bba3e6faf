"""The two kinds of errors that a command reports in one message."""

from __future__ import annotations


class BadInputError(Exception):
    """An unusable input; the message says what is allowed. Commands exit with status 2."""


class WorkError(Exception):
    """Work that began could not be done. Commands end with status 1."""
