"""Finds the project's content (feature banks, criteria, data, experiments), built in or given by the user."""

from __future__ import annotations

from pathlib import Path

from bestofn.errors import ContentError

KINDS = ("features", "criteria", "data", "experiments")
"""The content folders. In a wheel they lie inside the package, in a checkout beside it."""


def content_root(kind: str) -> Path:
    """The folder of one kind of content.

    It is looked for inside the package, then beside it, and there only where `pyproject.toml` says that this
    is a checkout. The current directory is never searched, so a stranger's folder cannot slip in.
    """
    if kind not in KINDS:
        raise ContentError(f"no content of kind '{kind}': there are {', '.join(KINDS)}")
    package = Path(__file__).resolve().parent
    inside = package / kind
    if inside.is_dir():
        return inside
    checkout = package.parent
    beside = checkout / kind
    if (checkout / "pyproject.toml").is_file() and beside.is_dir():
        return beside
    raise ContentError(
        f"the built-in '{kind}' folder is missing: looked in {inside} and beside the package in {checkout}; "
        "reinstall bestofn"
    )


def builtin_names(kind: str, suffix: str, under: str = "") -> list[str]:
    """Names (paths relative to the folder, or to `under` in it, without the suffix) of the built-in files, sorted."""
    root = content_root(kind) / under
    names = (p.relative_to(root).as_posix()[: -len(suffix)] for p in root.rglob(f"*{suffix}") if p.stem != "README")
    return sorted(names)


def find(kind: str, name: str, suffix: str, under: str = "") -> Path:
    """The file for a name or a path.

    A name with a directory part or the suffix is the user's own file; a bare name is a built-in one, looked up in
    the folder of its kind, or in `under` in it.

    Raises ContentError listing what is built in where there is no such file.
    """
    given = Path(name)
    if given.is_file():
        return given
    bare = name[: -len(suffix)] if name.endswith(suffix) else name
    built_in = content_root(kind) / under / f"{bare}{suffix}"
    if built_in.is_file() and ".." not in given.parts:
        return built_in
    known = ", ".join(builtin_names(kind, suffix, under)) or "none"
    raise ContentError(
        f"no {under or kind} file '{name}': not a file here, and built in are {known}; give a path ending in {suffix}"
    )
