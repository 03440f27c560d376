"""Finds pools by name: a path, a folder of pools, the user's registry, or the built-in demo."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bestofn.content import content_root
from bestofn.errors import PoolError, UsageError
from bestofn.fresh_file import fresh_file
from bestofn.pool import Pool

POOLS_VARIABLE = "BESTOFN_POOLS"
"""Environment variable: folders of pools, separated like PATH."""
DEMO = "demo"
"""Name of the pool that ships with the package."""
ANSWERS = "answers"
"""The folder in `data/` of models' recorded answers, a file a built-in pool."""

HOW_TO_ADD = (
    "give its path, register it with `bestofn pools add NAME PATH`, or set BESTOFN_POOLS to a folder of pools as "
    "group/name. Terminal-Bench 2 leaderboard submissions are published in the Hugging Face dataset "
    "harborframework/terminal-bench-2-leaderboard under submissions/terminal-bench/2.0/<agent>__<model>/: each such "
    "folder, with its job folders of trials as they are, is a pool; put it at POOLS/tb2/<agent>, where POOLS is in "
    "BESTOFN_POOLS, to call it tb2/<agent>"
)


class Entry(NamedTuple):
    """One pool that a name leads to."""

    name: str
    path: Path
    origin: str
    """Where the name was found: the folder of pools, the registry file, or 'built in'."""


def load_pool(path_or_name: str | os.PathLike[str], *, format: str | None = None) -> Pool:
    """The pool at a path or under a name. Nothing is read yet.

    Parameters
    ----------
    path_or_name
        A directory or file; or a name, looked up in each folder of `BESTOFN_POOLS`, then in the registry
        (`bestofn pools add`), then among the built-in ones (`demo`). A path always wins: where the working
        directory holds a file or folder called like a name, that is the pool.
    format
        Name of the reader to use for every file; by default each file's content decides.

    Raises PoolError listing the names there are, UsageError for an unknown format.
    """
    given = os.fspath(path_or_name)
    if format is not None:
        from bestofn.readers.registry import by_name

        by_name(format)
    path = Path(given)
    if path.exists():
        return Pool(given, path, format)
    for folder in _pool_folders():
        if given and not path.is_absolute() and ".." not in path.parts and (folder / path).exists():
            return Pool(given, folder / path, format)
    for entry in (*_registered(), *_built_in()):
        if entry.name == given:
            if not entry.path.exists():
                raise PoolError(
                    f"pool '{given}' leads to {entry.path}, which is not there: put it back, or register the new "
                    f"place with `bestofn pools add {given} PATH --replace`"
                )
            return Pool(given, entry.path, format)
    known = ", ".join(entry.name for entry in entries())
    raise PoolError(
        f"no pool '{given}': it is no path here, and the names there are: {known}. To add one, {HOW_TO_ADD}"
    )


def recorded_answers(name: str) -> Path | None:
    """The recorded answers that ship with a built-in pool; None where there are none, and for every other name."""
    if name != DEMO:
        return None
    path = content_root("data") / ANSWERS / f"{name}.jsonl.gz"
    return path if path.is_file() else None


def entries() -> Iterator[Entry]:
    """All pools that have a name, in lookup order; a name found earlier hides later ones."""
    seen: set[str] = set()
    for entry in (*_in_folders(), *_registered(), *_built_in()):
        if entry.name not in seen:
            seen.add(entry.name)
            yield entry


def registry_file() -> Path:
    """The user's registry of pools: TOML, one `name = "path"` a line under [pools]."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "bestofn" / "pools.toml"


def register(name: str, path: Path, *, replace: bool = False) -> None:
    """Remember a pool's place under a name.

    Parameters
    ----------
    replace
        Let the name lead to a new place where it is registered already.

    Raises UsageError for a bad name, one that leads elsewhere already (or would never be looked up here, since a
    folder of `BESTOFN_POOLS` has it), PoolError for a missing place.
    """
    if not name.isprintable() or name != name.strip():
        raise UsageError(f"{name!r} cannot name a pool: it has control characters or begins or ends with a space")
    plain = name == Path(name).as_posix()  # no slash at its end, no "//"
    if not name or not plain or name.startswith(("/", ".")) or ".." in Path(name).parts or name == DEMO:
        raise UsageError(f"'{name}' cannot name a pool: take a name such as tb2/terminus-2 ('{DEMO}' is built in)")
    if not path.exists():
        raise PoolError(f"{path} is not there, so '{name}' would lead nowhere")
    hiding = next((folder / name for folder in _pool_folders() if (folder / name).exists()), None)
    if hiding is not None:
        raise UsageError(
            f"'{name}' is taken: {POOLS_VARIABLE} is looked at first, and there it is {hiding}; take another name"
        )
    places = {e.name: str(e.path) for e in _registered()}
    place = str(path.resolve())
    if places.get(name, place) != place and not replace:
        raise UsageError(
            f"'{name}' is {places[name]} already: take another name, or give --replace to let it lead to {place}"
        )
    _write_registry({**places, name: place})


def unregister(name: str) -> None:
    """Forget a registered pool; the recordings stay where they are."""
    places = {e.name: str(e.path) for e in _registered()}
    if name not in places:
        raise UsageError(f"no registered pool '{name}': {registry_file()} has {', '.join(places) or 'none'}")
    del places[name]
    _write_registry(places)


def _write_registry(places: dict[str, str]) -> None:
    """Write the registry whole, replacing the old file in one step."""
    import tomli_w

    file = registry_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with fresh_file(file) as fresh:
        fresh.write_text(tomli_w.dumps({"pools": places}), encoding="utf-8")


def _pool_folders() -> list[Path]:
    """The folders of `BESTOFN_POOLS`."""
    return [Path(part) for part in os.environ.get(POOLS_VARIABLE, "").split(os.pathsep) if part]


def _in_folders() -> Iterator[Entry]:
    """Pools in the folders of `BESTOFN_POOLS`: `group/name`, or `name` where the folder itself holds recordings."""
    for folder in _pool_folders():
        for group in _subfolders(folder):
            names = [group.name] if _holds_recordings(group) else [f"{group.name}/{p.name}" for p in _subfolders(group)]
            for name in names:
                yield Entry(name, folder / name, str(folder))


def _subfolders(folder: Path) -> list[Path]:
    """Visible subfolders in name order; none where the folder is not there."""
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))


def _holds_recordings(folder: Path) -> bool:
    """True where a file in the folder itself may be a recording."""
    from bestofn.readers.registry import may_be_recording

    return any(may_be_recording(p.name) and p.is_file() for p in folder.iterdir())


def _registered() -> list[Entry]:
    """The pools of the user's registry."""
    file = registry_file()
    if not file.is_file():
        return []
    try:
        places = tomllib.loads(file.read_text(encoding="utf-8")).get("pools", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PoolError(f"{file} is not readable as TOML ({error}): mend or delete it") from error
    if not isinstance(places, dict) or not all(isinstance(path, str) for path in places.values()):
        raise PoolError(f'{file}: [pools] must hold lines of name = "path": mend or delete it')
    return [Entry(name, Path(path), str(file)) for name, path in places.items()]


def _built_in() -> list[Entry]:
    """The demo pool."""
    return [Entry(DEMO, content_root("data") / "demo" / "pool", "built in")]
