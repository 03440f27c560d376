"""What stays visible of terminal output: a carriage return overwrites, an erased line is gone, cursor moves are made.

Only what is needed to read a log: rows grow without limit, and a program that draws a full screen comes out as one
row for each place it jumped to. Time and memory are linear in the text, whatever it holds.
"""

from __future__ import annotations

import re

# ECMA-48. CSI: parameters, intermediates, a final byte. Any other escape: intermediates and one byte.
_SEQUENCE = re.compile("\\[(?P<parameters>[0-?]*+)[ -/]*+(?P<final>[@-~])|[ -/]*+[0-~]")
_STRINGS = "]PX^_"
"""What begins an OSC, DCS, SOS, PM or APC string, which BEL or ESC backslash ends."""
_CONTROL = re.compile("([\r\x08\x0b\x0c])")
# The 8-bit forms count only where no other 8-bit character stands before: there, they are mis-decoded letters.
_EIGHT_BIT = "\x9b\x90\x98\x9d\x9e\x9f"
_EIGHT_BIT_CSI = re.compile("(?<![\x80-\xff])\x9b(?=[0-?]*+[ -/]*+[@-~])")
_EIGHT_BIT_STRING = re.compile("(?<![\x80-\xff])[\x90\x98\x9d-\x9f][^\x07\x1b\x80-\x9f\n]{0,65536}(?:\x07|\x9c)")


def shown(text: str) -> str:
    """The text as a terminal would leave it, its rows joined with newlines."""
    if any(introducer in text for introducer in _EIGHT_BIT):
        text = _EIGHT_BIT_CSI.sub("\x1b[", _EIGHT_BIT_STRING.sub("", text))
    canvas = _Canvas(len(text))
    put = canvas.put if any(control in text for control in "\r\x08\x0b\x0c") else canvas.write_lines
    first, *escaped = text.split("\x1b")
    put(first)
    for index, part in enumerate(escaped):
        if part[:1] and part[0] in _STRINGS:
            bell = part.find("\x07")
            closed = index + 1 < len(escaped) and escaped[index + 1].startswith("\\")
            part = part[bell + 1 :] if bell >= 0 else "" if closed else part[1:]
        elif (sequence := _SEQUENCE.match(part)) is not None:
            part = part[sequence.end() :]
            if sequence["final"]:
                canvas.sequence(sequence["final"], sequence["parameters"])
        if part:
            put(part)
    return canvas.text()


class _Canvas:
    """Rows of characters and a cursor. A row is a string until something is written inside it."""

    def __init__(self, budget: int) -> None:
        self.rows: list[str | list[str]] = [""]
        self.row = 0
        self.column = 0
        self.budget = budget
        """How many blanks cursor moves may still add: a hostile text cannot make more than its own length."""
        self.erased: set[int] = set()
        """Rows that were erased as a whole or in part, such as the states of a progress bar."""

    def write_lines(self, piece: str) -> None:
        """Put text without controls other than newlines at the cursor."""
        first, newline, rest = piece.partition("\n")
        if first:
            self._write(first)
        if not newline:
            return
        lines = rest.split("\n")
        if self.row == len(self.rows) - 1:
            self.rows.extend(lines)
            self.row = len(self.rows) - 1
            self.column = len(lines[-1])
            return
        for line in lines:
            self._to_row(self.row + 1)
            if line:
                self._write(line)

    def put(self, text: str) -> None:
        """Text with carriage returns and backspaces; vertical tab and form feed begin a new line."""
        for piece in _CONTROL.split(text):
            if piece == "\r":
                self.column = 0
            elif piece == "\x08":
                self.column = max(0, self.column - 1)
            elif piece in ("\x0b", "\x0c"):
                self._to_row(self.row + 1)
            elif piece:
                self.write_lines(piece)

    def sequence(self, final: str, parameters: str) -> None:
        """A cursor move or an erasure; all else, colours above all, leaves no trace."""
        if final not in "ABCDEFGHJKf":
            return
        digits = parameters.partition(";")[0][:6]
        given = int(digits) if digits.isascii() and digits.isdigit() else 0
        count = given or 1
        if final == "K":
            self._erase_in_row(given)
        elif final == "J":
            if given == 0:
                del self.rows[self.row + 1 :]
                self._erase_in_row(0)
        elif final == "D":
            self.column = max(0, self.column - count)
        elif final == "C":
            self.column += count
        elif final == "G":
            self.column = count - 1
        elif final in "AF":
            self.row = max(0, self.row - count)
            self.column = 0 if final == "F" else self.column
        elif final == "B":
            self.row = min(self.row + count, len(self.rows) - 1)
        elif final == "E":
            self._to_row(self.row + count)
        elif self.rows[-1]:
            self._to_row(len(self.rows))

    def text(self) -> str:
        """The rows without trailing blanks; rows that an erasure left empty are left out."""
        lines = ((cells if isinstance(cells, str) else "".join(cells)).rstrip(" ") for cells in self.rows)
        return "\n".join(line for row, line in enumerate(lines) if line or row not in self.erased)

    def _write(self, piece: str) -> None:
        """Put characters of one row at the cursor, over what is there."""
        cells = self.rows[self.row]
        if not cells and self.column == 0:
            self.rows[self.row] = piece
            self.column = len(piece)
            return
        if self.column == 0 and len(piece) >= len(cells):
            self.rows[self.row] = piece
            self.column = len(piece)
            return
        if isinstance(cells, str):
            cells = self.rows[self.row] = list(cells)
        if self.column > len(cells):
            blanks = min(self.column - len(cells), self.budget)
            self.budget -= blanks
            cells.extend(" " * blanks)
            self.column = len(cells)
        cells[self.column : self.column + len(piece)] = piece
        self.column += len(piece)

    def _to_row(self, row: int) -> None:
        """To the start of a row, which is the next new one where it lies below all."""
        self.row = min(row, len(self.rows))
        self.column = 0
        if self.row == len(self.rows):
            self.rows.append("")

    def _erase_in_row(self, part: int) -> None:
        """0: from the cursor on, 1: up to the cursor, 2: the whole row."""
        cells = self.rows[self.row]
        if part == 2 or (part == 0 and self.column == 0):
            self.rows[self.row] = ""
        elif part == 0 and self.column < len(cells):
            self.rows[self.row] = cells[: self.column]
        elif part == 1:
            kept = cells[self.column + 1 :]
            self.rows[self.row] = [*" " * (len(cells) - len(kept)), *kept]
        self.erased.add(self.row)
