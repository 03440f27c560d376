"""Turns trajectories into the rows of a feature table, computing the columns that were asked for and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bestofn.errors import UsageError
from bestofn.featurize.bank import Bank, builtin_banks, function_names, load
from bestofn.featurize.counting import Counting
from bestofn.featurize.feature import NAME, Feature, FeatureFunction, Kind
from bestofn.featurize.reading import Reading
from bestofn.featurize.sibling import SIBLING, Digest, digest
from bestofn.featurize.structural import STRUCTURAL
from bestofn.table import RESERVED, FeatureTable, Floats
from bestofn.trajectory import Trajectory

DEFAULT_BANKS = ("default", "signals")
"""The banks of a table when nothing else is asked for."""


class Row(NamedTuple):
    """One trajectory's features, those that need its siblings still missing, and what these will need."""

    task: str
    trajectory: str
    values: Floats
    """(k,) one value a column; NaN for sibling columns until `Extractor.finish`."""
    reward: float
    """NaN where unknown."""
    empty: bool
    label_reason: str
    digest: Digest


def catalogue() -> dict[str, Feature]:
    """Every built-in feature by name: structural, sibling, then the regex features of all built-in banks."""
    features = [_builtin(name) for name in function_names()]
    for name in builtin_banks():
        features.extend(load(name).features)
    return {feature.name: feature for feature in features}


class Extractor:
    """Computes some features. It can be sent to other processes, if its functions can.

    Parameters
    ----------
    columns:
        Names of the wanted columns, in the order of the table. None for all columns of the banks and functions.
        A name may be one of `functions`, of the given banks, a built-in function, or of a built-in bank; it is looked
        for in that order, and banks are read only when a name is not found before them.
    banks:
        Built-in banks by name, or a user's own by path. None for `default` and `signals`.
    functions:
        A user's own features by name. They see a trajectory without its label.

    Raises ContentError for a bank with problems, UsageError for a name that is unknown, taken or stands twice.
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        banks: Sequence[str | Path] | None = None,
        functions: Mapping[str, FeatureFunction] | None = None,
    ) -> None:
        own = dict(functions or {})
        for own_name in own:
            _check_function_name(own_name)
        shelf = _Shelf(DEFAULT_BANKS if banks is None else tuple(banks), own)
        features = shelf.all() if columns is None else [shelf.find(name) for name in columns]
        names = tuple(feature.name for feature in features)
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise UsageError(f"features stand twice: {', '.join(doubled)}; every column needs a name of its own")
        self.features = tuple(features)
        """One a column, in order."""
        self.columns = names
        self.banks = tuple(shelf.read)
        """The banks that were read."""
        self.functions = own

    def row(self, trajectory: Trajectory) -> Row:
        """The features of one trajectory, which may be let go of afterwards.

        Raises UsageError naming function and trajectory where a user's function fails.
        """
        reading = Reading.of(trajectory)
        counted = iter(self._counting.values(reading))
        values = np.full(len(self.columns), math.nan)
        for index, feature in enumerate(self.features):
            if feature.kind is Kind.REGEX:
                values[index] = next(counted)
            elif feature.kind is Kind.STRUCTURAL:
                values[index] = STRUCTURAL[feature.name].measure(reading)
            elif feature.kind is Kind.USER:
                values[index] = _call(feature.name, self.functions[feature.name], reading)
        return Row(
            trajectory.task,
            trajectory.id,
            values,
            trajectory.label.value,
            reading.empty,
            trajectory.label.reason,
            digest(reading, self._parts),
        )

    def finish(self, rows: Iterable[Row], about: Mapping[str, Any] | None = None) -> FeatureTable:
        """The table of all rows, with the sibling columns of each task computed.

        `about` is kept in the table beside what this extractor knows: the banks with their hashes, and the functions.
        """
        kept = list(rows)
        members: dict[str, list[int]] = {}
        for index, row in enumerate(kept):
            members.setdefault(row.task, []).append(index)
        values = [row.values.copy() for row in kept]
        for column, feature in enumerate(self.features):
            if feature.kind is Kind.SIBLING:
                compare = SIBLING[feature.name].compare
                for indices in members.values():
                    for index, value in zip(indices, compare([kept[i].digest for i in indices]), strict=True):
                        values[index][column] = value
        return FeatureTable.build(
            (
                (row.task, row.trajectory, own, row.reward, row.empty, row.label_reason)
                for row, own in zip(kept, values, strict=True)
            ),
            self.columns,
            {**self.about, **(about or {})},
        )

    def table(self, trajectories: Iterable[Trajectory], about: Mapping[str, Any] | None = None) -> FeatureTable:
        """`row` for each trajectory, then `finish`."""
        return self.finish(map(self.row, trajectories), about)

    @property
    def about(self) -> dict[str, Any]:
        """What made the columns: {"banks": {name: hash}, "functions": [a user's own, by name]}."""
        return {"banks": {bank.name: bank.hash for bank in self.banks}, "functions": sorted(self.functions)}

    @cached_property
    def _counting(self) -> Counting:
        return Counting(tuple(feature for feature in self.features if feature.kind is Kind.REGEX))

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        """The parts of a digest that the sibling columns need."""
        wanted = (SIBLING[feature.name].part for feature in self.features if feature.kind is Kind.SIBLING)
        return tuple(dict.fromkeys(wanted))


class _Shelf:
    """Where names are looked up; reads a bank only when it must."""

    def __init__(self, banks: Sequence[str | Path], own: Mapping[str, FeatureFunction]) -> None:
        self.banks = banks
        self.own = own
        self.loaded: dict[str, Bank] = {}

    @property
    def read(self) -> list[Bank]:
        """The banks that were read, in that order."""
        return list(self.loaded.values())

    def all(self) -> list[Feature]:
        """Every feature of the banks, in their order, then the user's own."""
        features: dict[str, Feature] = {}
        for bank in map(self._load, self.banks):
            for name in bank.functions:
                features.setdefault(name, _builtin(name))
            for feature in bank.features:
                if feature.name in features:
                    other = features[feature.name].bank
                    raise UsageError(f"the banks '{other}' and '{bank.name}' both hold '{feature.name}': rename one")
                features[feature.name] = feature
        clash = sorted(features.keys() & self.own.keys())
        if clash:
            raise UsageError(f"your function '{clash[0]}' has the name of a feature: give it another name")
        return [*features.values(), *map(_user, self.own)]

    def find(self, name: str) -> Feature:
        """The feature of that name. Raises UsageError listing what there is."""
        if name in self.own:
            return _user(name)
        if name in function_names():
            return _builtin(name)
        for bank in (*self.banks, *(name for name in builtin_banks() if name not in self.banks)):
            for feature in self._load(bank).features:
                if feature.name == name:
                    return feature
        known = [*self.own, *(f.name for bank in self.read for f in bank.features), *function_names()]
        raise UsageError(f"no feature '{name}': there are {', '.join(known)}; a bank of your own is given by its path")

    def _load(self, name: str | Path) -> Bank:
        """The bank, read once."""
        key = str(name)
        if key not in self.loaded:
            bank = load(name)
            for other in self.read:
                if other.name == bank.name:
                    raise UsageError(f"two banks are called '{bank.name}', {other.path} and {bank.path}: rename one")
            self.loaded[key] = bank
        return self.loaded[key]


def _builtin(name: str) -> Feature:
    return STRUCTURAL[name].feature if name in STRUCTURAL else SIBLING[name].feature


def _user(name: str) -> Feature:
    return Feature(name, Kind.USER, 0, (), "a function of the caller's own")


def _check_function_name(name: str) -> None:
    if not NAME.fullmatch(name) or name in RESERVED or name in function_names():
        raise UsageError(
            f"a feature function cannot be called '{name}': take lower-case letters, digits and _, "
            "and no name that is reserved or built in"
        )


def _call(name: str, function: Callable[[Trajectory], float], reading: Reading) -> float:
    """A user's function on a trajectory; what is not finite is missing."""
    trajectory = reading.trajectory
    try:
        value = float(function(trajectory))
    except Exception as error:  # whatever a stranger's function does wrong is told with its name and place
        raise UsageError(
            f"feature function '{name}' failed on trajectory '{trajectory.id}' of task '{trajectory.task}': "
            f"{type(error).__name__}: {error}; give NaN where it cannot tell"
        ) from error
    return value if math.isfinite(value) else math.nan
