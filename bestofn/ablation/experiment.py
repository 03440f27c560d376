"""An experiment: a question, its source, arms as data, and what is done with them. Found by name or by file."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bestofn.ablation.comparison import Comparison
from bestofn.ablation.finding import Chart, Finding, Piece, PoolShown, Sheet
from bestofn.ablation.recipe import Recipe
from bestofn.ablation.setting import Setting
from bestofn.ablation.significance import smallest_difference
from bestofn.content import builtin_names, content_root
from bestofn.errors import ContentError, UsageError

VARIABLE = "EXPERIMENT"
"""What a file of an experiment calls it."""
KIND, SUFFIX = "experiments", ".py"


@dataclass(frozen=True)
class Experiment:
    """One question to labelled pools."""

    name: str
    question: str
    """One sentence that ends in a question mark."""
    source: str
    """Where it comes from: a table or section of the paper, or our own finding."""
    arms: tuple[Recipe, ...] = ()
    """What is compared."""
    reference: str = ""
    """The arm that the others are compared with, where `run` is left out."""
    run: Callable[[Setting], Iterable[Piece]] | None = None
    """Gives the finding piece by piece; by default, one comparison of the arms a pool."""
    inputs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further inputs that `--with NAME=VALUE` gives, each with what it is."""
    least_pools: int = 1
    """Pools that it needs."""

    def check(self, n_pools: int, inputs: Mapping[str, str]) -> None:
        """Raise UsageError for too few pools or an input that it does not know."""
        if n_pools < self.least_pools:
            raise UsageError(
                f"'{self.name}' needs {self.least_pools} pools or more: give --pool several times"
                if self.least_pools > 1
                else f"'{self.name}' needs a pool: give --pool POOL"
            )
        unknown = sorted(set(inputs) - set(self.inputs))
        if unknown:
            known = ", ".join(self.inputs) or "none"
            raise UsageError(f"'{self.name}' takes no input '{unknown[0]}': those of --with are {known}")

    def measure(self, setting: Setting) -> Finding:
        """Run it. Raises UsageError for what `check` finds."""
        self.check(len(setting.subjects), setting.inputs)
        pieces = list(self.run(setting) if self.run is not None else self._compared(setting))
        suspect = [remark for subject in setting.subjects for remark in subject.remarks()]
        judge = setting.judge
        return Finding(
            self.name,
            self.question,
            self.source,
            pools=tuple(
                PoolShown(
                    subject.name,
                    subject.table.digest,
                    len(subject.table),
                    subject.figures,
                    smallest_difference(subject.figures.n_tasks, subject.figures.n_swing),
                )
                for subject in setting.subjects
            ),
            comparisons=tuple(piece for piece in pieces if isinstance(piece, Comparison)),
            sheets=tuple(piece for piece in pieces if isinstance(piece, Sheet)),
            charts=tuple(piece for piece in pieces if isinstance(piece, Chart)),
            remarks=tuple(dict.fromkeys([*suspect, *(piece for piece in pieces if isinstance(piece, str))])),
            settings={
                "seed": setting.seed,
                "resamples": setting.resamples,
                "permutations": setting.permutations,
                "max_features": setting.max_features,
                "model": judge.model if judge is not None else None,
                "criteria": [f"{c.name} {c.hash}" for c in judge.criteria] if judge is not None else [],
                "inputs": dict(sorted(setting.inputs.items())),
            },
        )

    def _compared(self, setting: Setting) -> Iterator[Piece]:
        for subject in setting.subjects:
            yield setting.compare(subject, self.arms, reference=self.reference)


def builtin() -> list[Experiment]:
    """The built-in experiments in order of name; scripts beside them that declare none are left out."""
    return [read(path) for path in _builtin_paths()]


def load(name: str) -> Experiment:
    """A built-in experiment by name, or the one in a file of the user's own.

    Raises ContentError, listing what is built in, where there is none or the file declares none.
    """
    given = Path(name)
    if name.endswith(SUFFIX) and given.is_file():
        return read(given)
    if not name.endswith(SUFFIX):
        path = next((p for p in _builtin_paths() if p.stem == name), None)
        if path is not None:
            return read(path)
    known = ", ".join(path.stem for path in _builtin_paths())
    raise ContentError(
        f"no experiment '{name}': built in are {known}; for one of your own give a path ending in {SUFFIX}"
    )


def _builtin_paths() -> list[Path]:
    """Only files that lie in the folder itself: what is in its subfolders measures speed, or holds results."""
    paths = [content_root(KIND) / f"{name}{SUFFIX}" for name in builtin_names(KIND, SUFFIX) if "/" not in name]
    return [path for path in paths if declares(path)]


def is_builtin(name: str) -> bool:
    """Whether a name or file is one of the built-in experiments."""
    given = Path(name)
    return any(name == path.stem or (given.suffix and given.resolve() == path.resolve()) for path in _builtin_paths())


def declares(path: Path) -> bool:
    """Whether a file declares an experiment; it is looked at and not run."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == VARIABLE for target in targets):
            return True
    return False


def read(path: Path) -> Experiment:
    """The experiment that a Python file declares; the file is run.

    Raises ContentError where it cannot be run or declares none.
    """
    name = f"bestofn_experiment_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ContentError(f"{path} cannot be read as Python: an experiment is a file ending in {SUFFIX}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ContentError(f"{path} fails as it is read: {type(error).__name__}: {error}") from error
    found = getattr(module, VARIABLE, None)
    if not isinstance(found, Experiment):
        raise ContentError(
            f"{path} declares no experiment: it must set {VARIABLE} = Experiment(name=..., question=..., source=..., "
            "arms=(...), reference=...), as the built-in ones do"
        )
    return found
