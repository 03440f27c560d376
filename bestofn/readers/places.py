"""What the path of a recording says of it, for formats whose records do not name their task or themselves."""

from __future__ import annotations

from bestofn.readers.draft import Source


def own_name(source: Source) -> str:
    """The path under the pool's root without the file's endings, such as `run2/fix-build`."""
    folder, slash, file = source.relative.rpartition("/")
    return folder + slash + bare(file)


def task_name(source: Source) -> str:
    """The folder that holds the file, where that lies below the pool's root; else the file's own name."""
    parts = source.relative.split("/")
    return parts[-2] if len(parts) > 1 else bare(parts[-1])


def bare(file: str) -> str:
    """A file's name without its endings, `.traj.json` as well as `.json`, in any case."""
    for ending in (".json", ".jsonl", ".ndjson", ".traj"):
        if file.lower().endswith(ending):
            file = file[: -len(ending)] or file
    return file
