"""Terminal output as it stays on the screen."""

from __future__ import annotations

import pytest

from bestofn.readers.screen import shown


@pytest.mark.parametrize(
    ("raw", "rows"),
    [
        ("one\ntwo", "one\ntwo"),
        ("abc\rX", "Xbc"),
        ("abc\x1b[2DX", "aXc"),
        ("abc\x1b[1GX", "Xbc"),
        ("ab\x1b[3CX", "ab   X"),
        ("one\ntwo\x1b[1A\x1b[2K\rONE\n", "ONE\ntwo"),
        ("one\ntwo\x1b[1FX", "Xne\ntwo"),
        ("one\x1b[1Etwo", "one\ntwo"),
        ("one\ntwo\nthree\x1b[2A\r\x1b[J", ""),
        ("keep me\x1b[4D\x1b[K", "kee"),
        ("abcdef\x1b[3D\x1b[1KX", "    ef".replace("    ", "   X", 1)),
        ("half\x0bnext", "half\nnext"),
        ("\x1b[2J\x1b[Hmenu\x1b[2;1Hitem", "menu\nitem"),
        ("trailing   \n", "trailing\n"),
        ("step 1\x1b[2K\n\nstep 2", "\nstep 2"),
    ],
)
def test_moves_and_erasures(raw: str, rows: str) -> None:
    """Rows hold what was written last; a row that an erasure left empty is gone."""
    assert shown(raw) == rows


def test_moves_cannot_blow_a_text_up() -> None:
    """Blanks that cursor moves add are bounded by the length of the text itself."""
    raw = "\x1b[99999C." * 1000
    assert len(shown(raw)) < 2 * len(raw)
