"""Failure taxonomies: named failure modes on three axes, in AdaMAST's file forms: read, checked, saved and compared.

`code.py` says what a taxonomy is, `document.py` reads the file forms, `writing.py` keeps every unknown byte.
"""

from bestofn.taxonomy.code import AXES, STATUSES, Code, Form, Taxonomy
from bestofn.taxonomy.comparison import Comparison, compare, normalise
from bestofn.taxonomy.document import load, names, problems
from bestofn.taxonomy.writing import flat, save, text

__all__ = [
    "AXES",
    "STATUSES",
    "Code",
    "Comparison",
    "Form",
    "Taxonomy",
    "compare",
    "flat",
    "load",
    "names",
    "normalise",
    "problems",
    "save",
    "text",
]
