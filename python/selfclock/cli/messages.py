"""Output and exit of a command: documents, notes, errors, exit statuses."""

from __future__ import annotations

import functools
import json
import sys
import traceback
from typing import TYPE_CHECKING, NoReturn, ParamSpec

from click.exceptions import Exit

from selfclock import interrupts
from selfclock._core import RunError, ScenarioError
from selfclock.errors import BadInputError, WorkError
from selfclock.provenance import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FAILED, BAD_USAGE = 1, 2

P = ParamSpec("P")


class UsageError(BadInputError):
    """An argument without meaning here."""


#: Notes printed to standard error, for documents.
_noted: list[str] = []


def note(*notes: str | None) -> None:
    """Print a note on a possible mistake that does not stop the command."""
    for each in notes:
        if each is not None:
            _noted.append(each)
            sys.stderr.write(f"note: {each}\n")


def remark(text: str | None) -> None:
    """Print a remark on the command, not on a result: unlike a note, it is not in the document."""
    if text is not None:
        sys.stderr.write(f"note: {text}\n")


def fail(message: str, status: int) -> NoReturn:
    """End the command with a message and an exit status."""
    sys.stderr.write(f"selfclock: {message}\n")
    raise Exit(status) from None


def print_json(document: object) -> None:
    """Print one JSON document."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def print_document(document: Mapping[str, object]) -> None:
    """Print the JSON document of a result, with all notes."""
    print_json({**document, "notes": list(_noted)})


def print_written(path: Path) -> None:
    """Print the JSON document of a result that was written."""
    print_document(json.loads(path.read_text(encoding="utf-8")))


def hinted(error: ScenarioError, hint: str | None) -> ScenarioError:
    """Return an error, followed by a hint if there is one."""
    return error if hint is None else ScenarioError(f"{error}\nhint: {hint}")


def guarded(work: Callable[P, None]) -> Callable[P, None]:
    """Turn errors caused by users into one message and an exit status."""

    @functools.wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        _noted.clear()
        try:
            work(*args, **kwargs)
        except (BadInputError, ScenarioError) as error:
            fail(str(error), BAD_USAGE)
        except (RunError, WorkError) as error:
            fail(f"{_own_traceback(error)}{error}", FAILED)
        except BrokenPipeError:
            # The reader has closed the pipe; Python would complain again when closing the stream.
            sys.stdout = None
            raise Exit(FAILED) from None
        except UnicodeEncodeError as error:
            fail(f"'{escaped(error.object)}' is not in UTF-8; names and values are", BAD_USAGE)
        except OSError as error:
            fail(f"{error.filename or 'input or output'}: {error.strerror or error}", BAD_USAGE)
        except MemoryError:
            fail("not enough memory: see the limits of the process (ulimit -v) and of its container", FAILED)
        except KeyboardInterrupt as error:
            fail("interrupted", interrupts.status(error))
        except BaseException as error:
            # A panic of a Rust library: not an Exception, so that no handler continues by mistake.
            if type(error).__name__ != "PanicException":
                raise
            said = str(error).partition("\n")[0]
            fail(f"{said}: is there enough memory (ulimit -v), and may there be threads (ulimit -u)?", FAILED)

    return command


def _own_traceback(error: Exception) -> str:
    """The place in the user's own algorithm where a run failed, if any."""
    cause = error.__cause__
    if cause is None or cause.__traceback__ is None:
        return ""
    return "an algorithm ended the run\n" + "".join(traceback.format_exception(cause))
