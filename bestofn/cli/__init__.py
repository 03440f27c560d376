"""The command line: the only place that prints, exits, or catches our own errors."""

from __future__ import annotations

import io
import os
import sys

DONE, BELOW_BAR, USAGE = 0, 1, 2
"""Exit codes: done; done, and below the bar that was asked for; wrong use or unusable input."""
INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        _tell("interrupted")
        code = INTERRUPTED
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line and say with which code to exit."""
    import typer

    from bestofn.cli.app import app
    from bestofn.errors import BestofnError

    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            return USAGE  # closed before we began: there is nobody to tell
        # A terminal that cannot show a character gets its number instead.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(arguments, prog_name="bestofn", standalone_mode=False)
        sys.stdout.flush()
    except BestofnError as error:
        _tell(f"error: {error}")
        return USAGE
    except (KeyboardInterrupt, typer.Abort):
        _tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`| head`): that is its right, not an error.
        _abandon_output()
        return DONE
    except OSError as error:
        if error.filename is not None:
            raise
        _abandon_output()
        _tell(f"error: cannot write the results: {error.strerror or error}")
        return USAGE
    except Exception as error:
        # The parser's own errors know how to show themselves; all others are ours to see in full.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return USAGE
    if code == INTERRUPTED:  # the parser turns the signal into this code by itself
        _tell("interrupted")
    return code if isinstance(code, int) else DONE


def _tell(line: str) -> None:
    """A line on the error stream; where nobody can read it, the exit code has to do."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _abandon_output() -> None:
    """Let what is still buffered for a reader that is gone go nowhere, so that leaving does not fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
