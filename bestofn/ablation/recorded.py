"""The recorded answers that ship with a built-in pool, so that its judged experiments run without a model."""

from __future__ import annotations

from pathlib import Path

from bestofn.catalogue import DEMO
from bestofn.content import content_root
from bestofn.pool import Pool

ANSWERS = "answers.jsonl"
"""Name of the recording, beside the pool's folder."""


def recorded_answers(pool: Pool) -> Path | None:
    """The answers that ship with a pool; None for a pool that is not built in, or comes without any."""
    folder = content_root("data") / DEMO
    if pool.root.resolve() != (folder / "pool").resolve():
        return None
    path = folder / ANSWERS
    return path if path.is_file() else None
