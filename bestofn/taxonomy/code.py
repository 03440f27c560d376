"""What a failure taxonomy is: codes, each one named failure mode, on three axes.

The axes are those of "Fantastic Adaptive Taxonomies and How to Use Them" (arXiv:2607.16387), one for each place where
a failure could be mended: A the system around the agents, B one role or phase, C the knowledge that the task needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from bestofn.errors import ContentError

AXES = ("A", "B", "C")
"""A: the run as a whole and what surrounds it; B: a role or phase; C: the subject matter."""
CUSTOM = "Custom"
"""The category of a code that was written for one project, outside the axes."""
REVIEW = "review_required"
"""Status of a taxonomy whose annotators did not agree well enough; it is refused unless asked for."""
STATUSES = ("accepted", REVIEW, "from-published-names", "hand-written")
"""What `status` may say. The first two are AdaMAST's, the others say that no trace was read to make the codes."""

LETTER_ID = re.compile(r"([A-Z])\.[1-9][0-9]*")
"""An induced code's id."""
MAST_ID = re.compile(r"([1-3])\.[1-9][0-9]*")
"""An id of MAST, whose first number is one of its three groups."""
_MAST_GROUPS = {"specification": "A", "coordination": "B", "inter-agent": "B", "verification": "C"}
"""MAST's three groups as store records spell them."""


class Form(StrEnum):
    """Which of the file forms a taxonomy was read from."""

    FLAT = "flat v1"
    RECORD = "store record"
    LAYERED = "layered draft"


@dataclass(frozen=True, slots=True)
class Code:
    """One named failure mode."""

    id: str
    """Stable, never used again for another failure: 'A.1', MAST's '3.2', or a store record's own."""
    name: str
    category: str
    """As in the file: A, B, C, or a store record's own word such as Custom."""
    description: str
    severity: str = ""
    """Any word: the files in use do not agree on a scale."""
    when_to_use: str = ""
    when_not_to_use: str = ""
    applies_to_role: str = ""
    examples: tuple[str, ...] = ()
    basis: str = ""
    """Where a code that was not induced comes from."""

    @property
    def axis(self) -> str:
        """A, B or C.

        The category where it is one of them. MAST's groups stand in their own order: specification on A, between
        agents on B, verification on C. All else is C, as written for one project.
        """
        if self.category in AXES:
            return self.category
        if (mast := MAST_ID.fullmatch(self.id)) is not None:
            return AXES[int(mast[1]) - 1]
        if self.id.startswith("MAST-"):
            return next((axis for word, axis in _MAST_GROUPS.items() if self.category.casefold().startswith(word)), "C")
        return "C"


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """The failure modes of one kind of agent system. Change it with `dataclasses.replace`, write it with `save`."""

    name: str
    """`taxonomy_id` where there is one, else the file's name without its ending."""
    codes: tuple[Code, ...]
    """In file order."""
    display_name: str = ""
    domain: str = ""
    summary: str = ""
    status: str = ""
    """One of STATUSES; empty where the file states none, as records and drafts do."""
    origin: str = ""
    """Where the codes come from, where the file says so."""
    form: Form = Form.FLAT
    document: str = field(default="", repr=False, compare=False)
    """The text it was read from; empty for one made in memory."""

    @property
    def title(self) -> str:
        """The name to show."""
        return self.display_name or self.name

    @property
    def digest(self) -> str:
        """First 12 hex digits of the SHA-256 of the file that `save` would write."""
        from hashlib import sha256

        from bestofn.taxonomy.writing import text

        return sha256(text(self).encode()).hexdigest()[:12]

    def axis(self, axis: str) -> tuple[Code, ...]:
        """The codes of one axis, in file order."""
        return tuple(code for code in self.codes if code.axis == axis)

    def code(self, id: str) -> Code:
        """One code by its id. Raises ContentError naming the ids there are."""
        for code in self.codes:
            if code.id == id:
                return code
        raise ContentError(f"taxonomy '{self.name}' has no code '{id}': it has {', '.join(c.id for c in self.codes)}")
