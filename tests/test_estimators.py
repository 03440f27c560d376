"""Selectors as scikit-learn estimators."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from bestofn.errors import TableError, UsageError
from bestofn.estimators import ForwardSelector, ReweightSelector, RuleSelector, as_table
from bestofn.fitting import fit_forward, fit_reweight
from bestofn.metrics import accuracy_by_task, mean_over_tasks, pass_rate
from bestofn.table import FeatureTable

ESTIMATORS = [
    RuleSelector("shortest"),
    ReweightSelector({"signal": 1}, gate=False),
    ForwardSelector(max_features=3, candidates=["signal", "n_characters"], shrinkage=5.0),
]


def made(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Features, outcomes and tasks as scikit-learn passes them around."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([f"task {i}" for i in range(20)], 5)
    skill = rng.normal(size=100)
    frame = pd.DataFrame({"signal": skill + rng.normal(size=100), "n_characters": rng.integers(1, 99, 100) * 1.0})
    return frame, (skill > 0).astype(float), groups


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_are_kept_and_cloned(estimator):
    """`get_params`, `set_params`, `clone` and `repr` work as for any estimator."""
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert type(copy)().set_params(**estimator.get_params()).get_params() == estimator.get_params()
    assert type(estimator).__name__ in repr(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_is_a_thin_coat_over_the_plain_selector(estimator):
    """The scores are those of `selector_`, on the same rows as a table."""
    X, y, groups = made()
    fitted = clone(estimator).fit(X, y, groups)
    rows = ((g, str(i), x, r, False, "") for i, (g, x, r) in enumerate(zip(groups, X.to_numpy(), y, strict=True)))
    table = FeatureTable.build(rows, X.columns)
    assert (fitted.decision_function(X, groups) == fitted.selector_.scores(table)).all()
    assert (fitted.decision_function(table) == fitted.selector_.scores(table)).all()
    assert fitted.feature_names_in_.tolist() == ["signal", "n_characters"]
    assert fitted.n_features_in_ == 2
    assert clone(estimator).fit(table).selector_.terms == fitted.selector_.terms


def test_fits_are_those_of_the_library():
    """Same functions, same result."""
    X, y, groups = made()
    rows = ((g, str(i), x, r, False, "") for i, (g, x, r) in enumerate(zip(groups, X.to_numpy(), y, strict=True)))
    table = FeatureTable.build(rows, X.columns)
    assert ForwardSelector().fit(X, y, groups).selector_ == fit_forward(table).selector
    expected = fit_reweight(table, directions={"signal": 1}).selector
    assert ReweightSelector({"signal": 1}).fit(X, y, groups).selector_ == expected


def test_score_is_accuracy_with_shared_picks():
    """Two equal attempts share the pick."""
    X, groups = np.array([[1.0], [1.0], [2.0]]), ["a", "a", "a"]
    fitted = ForwardSelector().fit(X, [1.0, 0.0, 0.0], groups)
    fitted.selector_ = RuleSelector("random").fit(X, groups=groups).selector_
    assert fitted.score(X, [1.0, 0.0, 0.0], groups) == pytest.approx(1 / 3)


def test_an_array_names_its_columns_by_number():
    """x0, x1, ..."""
    X, y, groups = made()
    fitted = ForwardSelector().fit(X.to_numpy(), y, groups)
    assert [t.column for t in fitted.selector_.terms][:1] == ["x0"]


def test_it_stands_at_the_end_of_a_pipeline():
    """Transformers before it, groups passed by name."""
    X, y, groups = made()
    pipeline = Pipeline([("log", FunctionTransformer(lambda x: x * 2)), ("pick", ForwardSelector())])
    scores = pipeline.fit(X, y, pick__groups=groups)[-1].decision_function(X * 2, groups)
    assert (scores == ForwardSelector().fit(X, y, groups).decision_function(X, groups)).all()


@pytest.mark.parametrize("estimator", [ForwardSelector(), ReweightSelector({"signal": 1})])
def test_scikit_learns_loop_over_groups_gives_our_held_out_scores(estimator):
    """Refitting by LeaveOneGroupOut gives, to the last bit, the scores that one fit holds for each task."""
    X, y, groups = made()
    rows = ((g, str(i), x, r, False, "") for i, (g, x, r) in enumerate(zip(groups, X.to_numpy(), y, strict=True)))
    table = FeatureTable.build(rows, X.columns)
    at_once = clone(estimator).fit(table).learned_.held_out_scores(table)
    for train, test in LeaveOneGroupOut().split(X, y, groups):
        fitted = clone(estimator).fit(X.iloc[train], y[train], groups[train])
        assert (fitted.decision_function(X.iloc[test], groups[test]) == at_once[test]).all()


def test_cross_validation_with_routed_groups_gives_our_nested_figure():
    """`cross_val_score` over tasks is the accuracy of the held-out scores."""
    X, y, groups = made()
    with config_context(enable_metadata_routing=True):
        routed = ForwardSelector().set_fit_request(groups=True).set_score_request(groups=True)
        found = cross_val_score(routed, X, y, params={"groups": groups}, cv=LeaveOneGroupOut())
    table = as_table(X, y, groups)
    ours = accuracy_by_task(fit_forward(table).held_out_scores(table), table.rewards, table.groups)
    # scikit-learn takes the groups in order of name, a table in order of appearance.
    assert found.tolist() == ours[np.argsort(table.task_names)].tolist()


def test_unknown_outcomes_are_left_out():
    """NaN in y is an unknown label, not an error and not a fail."""
    X, y, groups = made()
    y[::6] = math.nan
    fitted = ReweightSelector({"signal": 1}).fit(X, y, groups)
    scores = fitted.decision_function(X, groups)
    numbers = np.unique(groups, return_inverse=True)[1]
    assert fitted.score(X, y, groups) == mean_over_tasks(accuracy_by_task(scores, y, numbers))
    assert fitted.score(X, y, groups) > mean_over_tasks(pass_rate(y, numbers))


def test_what_does_not_fit_is_told():
    """No groups, lengths that differ, arrays of another shape, missing columns, and use before fitting."""
    X, y, groups = made()
    with pytest.raises(UsageError, match="give groups, the task of each row"):
        ForwardSelector().fit(X, y)
    with pytest.raises(TableError, match=r"^groups has shape \(3,\), but the features have 100 rows$"):
        ForwardSelector().fit(X, y, groups[:3])
    with pytest.raises(TableError, match=r"^y has shape \(9,\), but the features have 100 rows$"):
        ForwardSelector().fit(X, y[:9], groups)
    with pytest.raises(TableError, match="1 dimension"):
        ForwardSelector().fit(y, y, groups)
    with pytest.raises(TableError, match=r"^selector 'fewest-steps': the table lacks n_steps; its columns are signal"):
        RuleSelector("fewest-steps").fit(X, y, groups)
    with pytest.raises(NotFittedError):
        ForwardSelector().decision_function(X, groups)
