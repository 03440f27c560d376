"""The command line: the only place that prints, exits, or catches our own errors."""

from __future__ import annotations

import os
import sys

DONE, BELOW_BAR, USAGE = 0, 1, 2
"""Exit codes: done; done, and below the bar that was asked for; wrong use or unusable input."""
INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    from bestofn.cli.app import app
    from bestofn.errors import BestofnError

    try:
        app(prog_name="bestofn")
    except BestofnError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (`| head`): that is its right, not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
