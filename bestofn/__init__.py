"""Pick the attempt that really succeeded: verifiers and trajectory selection for recorded agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofn.catalogue import load_pool as load_pool
    from bestofn.pool import Pool as Pool
    from bestofn.table import FeatureTable as FeatureTable
    from bestofn.trajectory import Task as Task
    from bestofn.trajectory import Trajectory as Trajectory

_HOMES = {
    "load_pool": "bestofn.catalogue",
    "Pool": "bestofn.pool",
    "FeatureTable": "bestofn.table",
    "Task": "bestofn.trajectory",
    "Trajectory": "bestofn.trajectory",
}
__all__ = ["FeatureTable", "Pool", "Task", "Trajectory", "load_pool"]


def __getattr__(name: str) -> Any:
    """The public names, each imported when first used, so that importing bestofn costs nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("bestofn")
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'bestofn' has no attribute '{name}'")
