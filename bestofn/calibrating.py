"""Fits the probability of a selector file to labelled pools, and measures it on tasks that were left out.

The model is a ridge logistic regression whose weights may not contradict the direction that a feature is expected to
have: what contradicts it gets 0. Its calibration is fitted to scores of tasks left out of the fit, and what is reported
leaves each task out of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bestofn.calibration import Calibration, auc, brier, fit_calibration, reliability, sigmoid
from bestofn.conformal import Conformal
from bestofn.conformal import Measured as Rate
from bestofn.errors import TableError, UsageError
from bestofn.featurize.extract import Extractor
from bestofn.featurize.feature import Feature, Kind, Value
from bestofn.fitting import fitted_on
from bestofn.judged import MODEL
from bestofn.metrics import Bools, Floats
from bestofn.probability import Elsewhere, Guard, Measured, Probability, Term
from bestofn.selector import Selector
from bestofn.table import FeatureTable

COLUMNS = (
    "finished", "refused", "final_message_success", "final_message_doubt", "n_characters", "n_error", "n_traceback",
    "n_missing", "n_test_failure", "checks_after_edit", "distinct_share",
)  # fmt: skip
"""What the model looks at by default: features of one run in a terminal, chosen for what they mean before any was
measured: its ending, its last words, its length, its troubles, its checks, its repeats."""
KIND_COLUMNS = ("n_user_turns", "n_commands")
"""What tells whether a run is of the kind that was fitted on: dialogues and runs without commands are other kinds."""
RIDGE = 10.0
"""Penalty on squared weights of standardised features. Fixed, never tuned on a pool."""
FOLDS = 10
"""Parts into which tasks are split for the scores that a calibration is fitted to."""
RANGE = (1.0, 99.0)
"""Percentiles of the fitted values; beyond the one on the side of success, a value is outside of what was fitted."""
COMPARING = ("llm_compare", "llm_listwise", "llm_verifier")
"""Beginnings of the names of a model's columns that compare attempts."""
RATES = (0.05, 0.1, 0.2)
"""Error rates whose outcome is reported."""
RESAMPLES = 1000
FEWEST = 10
"""Passes, and fails, and tasks, without which nothing is fitted."""


@dataclass(frozen=True)
class _Data:
    """Rows with a known outcome."""

    values: Floats
    """(n, k)"""
    passed: Floats
    """(n,) 1 or 0."""
    groups: Floats
    """(n,) number of each row's task."""
    logs: Bools
    """(k,) which columns enter as log(1 + value)."""
    signs: Floats
    """(k,) expected direction."""

    def rows(self, keep: Bools) -> _Data:
        return replace(self, values=self.values[keep], passed=self.passed[keep], groups=self.groups[keep])


class _Model(NamedTuple):
    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def raw(self, data: _Data) -> Floats:
        """(n,) uncalibrated probabilities."""
        entered = _entered(data)
        z = np.where(np.isnan(entered), 0.0, (entered - self.mean) / self.scale)
        return sigmoid(z @ self.weights + self.intercept)


def with_probability(
    selector: Selector,
    tables: Mapping[str, FeatureTable],
    *,
    columns: Sequence[str] = COLUMNS,
    calibration: str = "beta",
    elsewhere: Mapping[str, FeatureTable] | None = None,
    banks: Sequence[str | Path] | None = None,
    seed: int = 0,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Selector:
    """The selector with a probability fitted to labelled pools, so that it can score one attempt on its own.

    A rule ranks as before, and names the pools that its probability was fitted on; a fitted selector names its own.
    Parameters and errors are those of `fit_probability`.
    """
    found = fit_probability(
        tables,
        columns=columns,
        calibration=calibration,
        elsewhere=elsewhere,
        banks=banks,
        seed=seed,
        on_progress=on_progress,
    )
    # Which tasks were seen says whether picks are flattered; those of a rule are not.
    pools = selector.fitted_on or tuple(fitted_on(t, name)._replace(seen="") for name, t in tables.items())
    return replace(selector, probability=found, fitted_on=pools)


def fit_probability(
    tables: Mapping[str, FeatureTable],
    *,
    columns: Sequence[str] = COLUMNS,
    calibration: str = "beta",
    elsewhere: Mapping[str, FeatureTable] | None = None,
    banks: Sequence[str | Path] | None = None,
    seed: int = 0,
    on_progress: Callable[[int, int | None], None] | None = None,
) -> Probability:
    """A probability fitted to labelled pools.

    Parameters
    ----------
    tables
        Pools by name, with the columns and KIND_COLUMNS. Tasks of one name are one task in all of them.
    columns
        Features with an expected direction, none of them a sibling feature; or a judge's columns (`llm_...`) about one
        run, whose direction stands in the tables.
    calibration
        'beta' or 'isotonic'.
    elsewhere
        Pools to measure on and not to fit on.
    banks
        Feature banks in which columns are looked for before the built-in ones.
    seed
        Of the folds and of the interval.
    on_progress
        Called with tasks left out so far and in all.

    Raises UsageError for a column that cannot be used, TableError where the labels are too few.
    """
    if calibration not in ("beta", "isotonic"):
        raise UsageError(f"no calibration '{calibration}': there are beta and isotonic")
    extractor = Extractor([column for column in columns if not column.startswith(MODEL)], banks)
    logs, signs = _shapes(extractor, columns, list(tables.values()))
    data = _joined(list(tables.values()), columns, logs, signs)
    _check(data, list(tables))
    model, raw = _fit(data), _out_of_fold(data, _parts(data, seed))
    fitted = fit_calibration(calibration, raw, data.passed)
    honest = _nested(data, calibration, seed, on_progress)
    found = Probability(
        intercept=round(model.intercept, 6),
        terms=_terms(model, data, columns),
        calibration=fitted,
        conformal=_conformal(honest, data),
        measured=_measured(honest, data, seed),
        reliability=reliability(honest, data.passed),
        guards=_guards(tables.values()),
        banks={bank.name: bank.hash for bank in extractor.banks},
    )
    return replace(found, elsewhere=tuple(_elsewhere(found, name, table) for name, table in (elsewhere or {}).items()))


def _shapes(extractor: Extractor, columns: Sequence[str], tables: Sequence[FeatureTable]) -> tuple[Bools, Floats]:
    """Which columns are counts, and all expected directions."""
    features = {feature.name: feature for feature in extractor.features}
    shapes = [
        _shape(features[column]) if column in features else (False, _judged_direction(column, tables))
        for column in columns
    ]
    return np.array([log for log, _ in shapes], dtype=np.bool_), np.array([sign for _, sign in shapes])


def _shape(feature: Feature) -> tuple[bool, float]:
    if feature.kind is Kind.SIBLING or feature.direction == 0:
        why = "needs other attempts" if feature.kind is Kind.SIBLING else "has no expected direction"
        raise UsageError(f"'{feature.name}' cannot make the probability of one attempt: it {why}")
    counts = feature.value is Value.COUNT if feature.kind is Kind.REGEX else feature.name not in SHARES
    return counts, float(feature.direction)


def _judged_direction(column: str, tables: Sequence[FeatureTable]) -> float:
    """The direction of a model's column, as the tables tell it. Raises UsageError where it cannot be used."""
    if column.startswith(COMPARING):
        raise UsageError(f"'{column}' cannot make the probability of one attempt: it needs other attempts")
    told = {float(table.about.get("directions", {}).get(column, 0.0)) for table in tables}
    if told not in ({1.0}, {-1.0}):
        raise UsageError(
            f"'{column}' cannot make the probability of one attempt: the tables tell no direction for it, or two; "
            "write them with `bestofn features --judge MODEL`"
        )
    return told.pop()


SHARES = frozenset({"finished", "timed_out", "refused", "has_final_message", "distinct_share"})
"""Structural features from 0 to 1, which enter as they are."""


def _joined(tables: Sequence[FeatureTable], columns: Sequence[str], logs: Bools, signs: Floats) -> _Data:
    values = np.vstack([table.take(columns) for table in tables])
    rewards = np.concatenate([table.rewards for table in tables])
    empty = np.concatenate([table.empty for table in tables])
    names = [name for table in tables for name in table.tasks.tolist()]
    numbers = {name: float(number) for number, name in enumerate(sorted(set(names)))}
    known = (rewards == 1.0) | (rewards == 0.0)
    groups = np.array([numbers[name] for name in names])
    return _Data(values, rewards, groups, logs, signs).rows(np.asarray(known & ~empty, dtype=np.bool_))


def _check(data: _Data, pools: Sequence[str]) -> None:
    passes, tasks = int(data.passed.sum()), len(np.unique(data.groups))
    fails = len(data.passed) - passes
    if min(passes, fails, tasks) < FEWEST:
        raise TableError(
            f"pools {', '.join(pools)} have {passes} passes and {fails} fails at {tasks} tasks, "
            f"and a probability takes at least {FEWEST} of each: add labelled pools"
        )


def _entered(data: _Data) -> Floats:
    return np.where(data.logs, np.log1p(np.maximum(data.values, 0.0)), data.values)


def _fit(data: _Data) -> _Model:
    """Ridge logistic regression, weights bound to their expected sign. A column that is unknown everywhere gets 0."""
    from scipy.optimize import minimize

    entered = _entered(data)
    known = ~np.isnan(entered)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, entered, 0.0).sum(axis=0) / counts
    centred = np.where(known, entered - mean, 0.0)
    scale = np.sqrt((centred**2).sum(axis=0) / counts)
    scale[scale < 1e-9] = 1.0
    z, k = centred / scale, entered.shape[1]

    def loss(w: Floats) -> tuple[float, Floats]:
        margin = z @ w[:k] + w[k]
        error = sigmoid(margin) - data.passed
        value = (np.logaddexp(0.0, margin) - data.passed * margin).sum() + 0.5 * RIDGE * (w[:k] ** 2).sum()
        return float(value), np.append(z.T @ error + RIDGE * w[:k], error.sum())

    bounds = [(0.0, None) if sign > 0 else (None, 0.0) for sign in data.signs]
    found = minimize(loss, np.zeros(k + 1), jac=True, bounds=[*bounds, (None, None)], method="L-BFGS-B").x
    return _Model(mean, scale, found[:k], float(found[k]))


def _parts(data: _Data, seed: int) -> Floats:
    """(n,) part of each row; a task's rows are in one part."""
    tasks = np.unique(data.groups)
    order = np.random.default_rng(seed).permutation(len(tasks))
    part = dict(zip(tasks[order].tolist(), np.arange(len(tasks)) % FOLDS, strict=True))
    return np.array([float(part[group]) for group in data.groups])


def _out_of_fold(data: _Data, parts: Floats) -> Floats:
    """(n,) raw probabilities, each from a fit without its part."""
    out = np.zeros(len(data.passed))
    for part in np.unique(parts):
        held = parts == part
        out[held] = _fit(data.rows(~held)).raw(data.rows(held))
    return out


def _nested(
    data: _Data, calibration: str, seed: int, on_progress: Callable[[int, int | None], None] | None = None
) -> Floats:
    """(n,) calibrated probabilities, each from a fit and a calibration without its task."""
    out = np.zeros(len(data.passed))
    tasks = np.unique(data.groups)
    for done, task in enumerate(tasks):
        if on_progress is not None:
            on_progress(done, len(tasks))
        held = data.groups == task
        rest = data.rows(~held)
        fitted: Calibration = fit_calibration(calibration, _out_of_fold(rest, _parts(rest, seed)), rest.passed)
        out[held] = fitted.apply(_fit(rest).raw(data.rows(held)))
    return out


def _terms(model: _Model, data: _Data, columns: Sequence[str]) -> tuple[Term, ...]:
    """The model's terms without those of weight 0."""
    out = []
    for i, name in enumerate(columns):
        if abs(model.weights[i]) < 1e-4:
            continue
        known = data.values[~np.isnan(data.values[:, i]), i]
        usual = np.percentile(known, RANGE)
        good, bad = (usual[1], known.min()) if model.weights[i] > 0 else (usual[0], known.max())
        low, high = sorted((round(float(good), 6), round(float(bad), 6)))
        weight, mean, scale = (round(float(x), 6) for x in (model.weights[i], model.mean[i], model.scale[i]))
        out.append(Term(name, bool(data.logs[i]), weight, mean, scale, low, high))
    return tuple(out)


def _guards(tables: Iterable[FeatureTable]) -> tuple[Guard, ...]:
    """The kind of run that was fitted on, by the columns that tell it."""
    out = []
    for name in KIND_COLUMNS:
        values = np.concatenate([table.column(name) for table in tables])
        known = values[~np.isnan(values)]
        if len(known):
            out.append(Guard(name, float(np.floor(np.percentile(known, RANGE[0]))), float(known.max())))
    return tuple(out)


def _conformal(honest: Floats, data: _Data) -> Conformal:
    """The reference scores, and what error rates come to where each task is answered by the others' scores."""

    def reference(keep: Bools) -> Conformal:
        up, down = (np.sort(honest[keep & (data.passed == outcome)]).round(4).tolist() for outcome in (1.0, 0.0))
        return Conformal(tuple(up), tuple(down))

    others = {task: reference(data.groups != task) for task in np.unique(data.groups)}
    measured = []
    for rate in RATES:
        told = np.array([others[g].answer(p, rate) for p, g in zip(honest, data.groups, strict=True)])
        wrong = (told[data.passed == 1.0] == "fail").mean(), (told[data.passed == 0.0] == "pass").mean()
        measured.append(Rate(rate, *(round(float(share), 4) for share in (*wrong, (told == "unsure").mean()))))
    return replace(reference(np.ones(len(honest), dtype=np.bool_)), measured=tuple(measured))


def _measured(honest: Floats, data: _Data, seed: int) -> Measured:
    tasks = np.unique(data.groups)
    rows = [np.flatnonzero(data.groups == task) for task in tasks]
    total, n = data.passed.sum(), len(data.passed)
    base = np.zeros(n)
    for mine in rows:
        base[mine] = (total - data.passed[mine].sum()) / (n - len(mine))
    generator = np.random.default_rng(seed)
    drawn = [np.concatenate([rows[i] for i in generator.integers(len(rows), size=len(rows))]) for _ in range(RESAMPLES)]
    resampled = np.array([auc(honest[sample], data.passed[sample]) for sample in drawn])
    within = [auc(honest[mine], data.passed[mine]) for mine in rows if 0.0 < data.passed[mine].mean() < 1.0]
    low, high = np.nanpercentile(resampled, (2.5, 97.5))
    figures = (
        data.passed.mean(), brier(honest, data.passed), brier(base, data.passed), auc(honest, data.passed), low, high,
        np.mean(within) if within else 0.5,
    )  # fmt: skip
    return Measured(len(tasks), n, len(within), *(round(float(figure), 4) for figure in figures))


def _elsewhere(found: Probability, name: str, table: FeatureTable) -> Elsewhere:
    """The probabilities on a pool that was not fitted on."""
    known = ((table.rewards == 1.0) | (table.rewards == 0.0)) & ~table.empty
    rows = table.rows(np.asarray(known, dtype=np.bool_))
    passed = rows.rewards
    if not 0.0 < passed.mean() < 1.0:
        raise TableError(f"pool '{name}' has no attempts of both outcomes, so nothing can be measured on it")
    values = rows.take(found.columns)
    p = found.probabilities(found.effects(values))
    rate = float(passed.mean())
    figures = (rate, p.mean(), brier(p, passed), rate * (1.0 - rate), auc(p, passed))
    guarded = rows.take([guard.column for guard in found.guards])
    inside = 1.0 - (found.flattered(values).any(axis=1) | found.foreign(guarded).any(axis=1)).mean()
    return Elsewhere(name, table.digest, len(rows), *(round(float(figure), 4) for figure in (*figures, inside)))
