"""Pick the attempt that really succeeded: verifiers and trajectory selection for recorded agent runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestofn.catalogue import load_pool as load_pool
    from bestofn.errors import BestofnError as BestofnError
    from bestofn.evaluation import evaluate as evaluate
    from bestofn.pool import Pool as Pool
    from bestofn.pooling import fit_pools as fit_pools
    from bestofn.scoring import score_pool as score_pool
    from bestofn.selection import select as select
    from bestofn.selector import Selector as Selector
    from bestofn.selector_file import read_selector as read_selector
    from bestofn.selector_file import write_selector as write_selector
    from bestofn.single import score as score
    from bestofn.table import FeatureTable as FeatureTable
    from bestofn.trajectory import Task as Task
    from bestofn.trajectory import Trajectory as Trajectory

_HOMES = {
    "BestofnError": "errors",
    "FeatureTable": "table",
    "Pool": "pool",
    "Selector": "selector",
    "Task": "trajectory",
    "Trajectory": "trajectory",
    "evaluate": "evaluation",
    "fit_pools": "pooling",
    "load_pool": "catalogue",
    "read_selector": "selector_file",
    "score": "single",
    "score_pool": "scoring",
    "select": "selection",
    "write_selector": "selector_file",
}
__all__ = [
    "BestofnError",
    "FeatureTable",
    "Pool",
    "Selector",
    "Task",
    "Trajectory",
    "evaluate",
    "fit_pools",
    "load_pool",
    "read_selector",
    "score",
    "score_pool",
    "select",
    "write_selector",
]


def __getattr__(name: str) -> Any:
    """The public names, each imported when first used, so that importing bestofn costs nothing."""
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("bestofn")
        except PackageNotFoundError:
            return "(not installed)"
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f"bestofn.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'bestofn' has no attribute '{name}'")
