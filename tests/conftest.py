"""What all tests share: where the recordings that are not part of the project lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared_root() -> Path | None:
    """The shared recordings: BESTOFN_SHARED, or `shared` beside the checkout; None where there are none."""
    given = os.environ.get("BESTOFN_SHARED")
    root = Path(given) if given else Path(__file__).resolve().parents[2] / "shared"
    return root if (root / "pools").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared recordings; without them the test is skipped, by name."""
    root = shared_root()
    if root is None:
        pytest.skip("needs the shared recordings: set BESTOFN_SHARED to the folder that holds pools/, samples/, cases/")
    return root
