"""The extractor computes what was asked for, whoever wrote it, and nothing else."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bestofn.errors import ContentError, UsageError
from bestofn.featurize.bank import function_names, load
from bestofn.featurize.extract import DEFAULT_BANKS, Extractor, catalogue
from bestofn.pool import Pool
from bestofn.table import FeatureTable
from bestofn.trajectory import Actor, Command, Coverage, Label, LabelKind, Observation, Step, Trajectory

Make = Callable[..., Trajectory]

POISONED = "description = 'Bad.'\n[[feature]]\nname = 'boom'\npattern = '(?!x)'\n"
MINE = """
description = "Mine."
functions = ["n_steps"]
[[feature]]
name = "n_cats"
pattern = '''\\bcats?\\b'''
channel = "message"
where = "anywhere"
value = "count"
direction = 0
codes = ["2.3"]
why = "The agent thinks of cats."
matches = ["a cat", "cats", "no cat"]
misses = ["concat", "catalogue", "Cat"]
"""


@pytest.fixture
def runs(attempt: Make) -> list[Trajectory]:
    """Two tasks, two attempts each, of which one is empty."""

    def one(name: str, task: str, message: str, reward: float) -> Trajectory:
        step = Step(Actor.AGENT, message, commands=(Command("ls"),), observations=(Observation("Killed", 0),))
        return attempt(step, id=name, task=task, label=Label.from_reward(reward))

    return [
        one("a", "t1", "a cat: \\boxed{1}", 1.0),
        one("b", "t2", "two cats and a cat", 0.0),
        one("c", "t1", "\\boxed{2}", 0.0),
        attempt(id="d", task="t2", label=Label.unknown("crashed")),
    ]


def test_by_default_all_columns_of_the_built_in_banks_are_computed(runs: list[Trajectory]) -> None:
    """One row a trajectory, one column a feature, the label apart, and what made it."""
    table = Extractor().table(runs, {"pool": "p"})
    banks = [load(name) for name in DEFAULT_BANKS]
    assert set(table.columns) == {column for bank in banks for column in bank.columns} == set(catalogue())
    assert list(table.trajectories) == ["a", "b", "c", "d"]
    assert list(table.tasks) == ["t1", "t2", "t1", "t2"]
    assert list(table.empty) == [False, False, False, True]
    assert table.about == {"banks": {bank.name: bank.hash for bank in banks}, "functions": [], "pool": "p"}
    assert table.rewards[:3].tolist() == [1.0, 0.0, 0.0]
    assert math.isnan(table.rewards[3])
    assert table.label_reasons[3] == "crashed"
    assert table.column("n_killed")[:3].tolist() == [1.0, 1.0, 1.0]
    assert math.isnan(table.column("n_killed")[3])


def test_columns_stand_in_the_order_asked_for(runs: list[Trajectory]) -> None:
    """Names of every kind may be mixed."""
    names = ["answer_votes", "n_killed", "n_steps", "final_message_success"]
    table = Extractor(names).table(runs)
    assert table.columns == tuple(names)
    assert table.column("n_steps")[:3].tolist() == [1.0, 1.0, 1.0]
    assert table.column("answer_votes")[[0, 2]].tolist() == [0.5, 0.5]


def test_a_column_alone_has_the_value_that_it_has_among_all(runs: list[Trajectory]) -> None:
    """What else is computed changes no column."""
    everything = Extractor().table(runs)
    for name in everything.columns:
        alone = Extractor([name]).table(runs).column(name)
        assert np.array_equal(alone, everything.column(name), equal_nan=True), name


def test_functions_alone_read_no_bank(runs: list[Trajectory], tmp_path: Path) -> None:
    """A bank that could not be loaded does no harm where no column is asked of it."""
    bad = tmp_path / "bad.toml"
    bad.write_text(POISONED, encoding="utf-8")
    extractor = Extractor(["n_characters", "finished", "answer_votes"], banks=[bad])
    assert extractor.banks == ()
    assert extractor.table(runs).columns == ("n_characters", "finished", "answer_votes")
    with pytest.raises(ContentError, match=r"bad\.toml, feature 'boom'"):
        Extractor(["n_killed"], banks=[bad])


def test_patterns_that_were_not_asked_for_are_not_compiled(runs: list[Trajectory]) -> None:
    """Of a bank, only the asked columns run."""
    extractor = Extractor(["n_killed"])
    extractor.table(runs)
    (group,) = extractor._counting._groups.values()
    assert [feature.name for feature in group.features] == ["n_killed"]
    assert len(group.matcher.patterns) == 1


def test_a_bank_of_ones_own_is_given_by_its_path(runs: list[Trajectory], tmp_path: Path) -> None:
    """Its functions come first, then its features; its hash is in the table."""
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE, encoding="utf-8")
    table = Extractor(banks=[str(mine)]).table(runs)
    assert table.columns == ("n_steps", "n_cats")
    assert table.column("n_cats")[:3].tolist() == [1.0, 2.0, 0.0]
    assert table.about["banks"] == {"mine": load(mine).hash}
    both = Extractor(["n_cats", "n_killed"], banks=[mine])
    assert [bank.name for bank in both.banks] == ["mine", "default"]


def test_the_same_feature_in_two_banks_is_an_error(tmp_path: Path) -> None:
    """A table cannot hold two columns of one name."""
    (tmp_path / "mine.toml").write_text(MINE, encoding="utf-8")
    (tmp_path / "yours.toml").write_text(MINE, encoding="utf-8")
    with pytest.raises(UsageError, match=r"^the banks 'mine' and 'yours' both hold 'n_cats': rename one$"):
        Extractor(banks=[tmp_path / "mine.toml", tmp_path / "yours.toml"])


def test_two_banks_of_one_name_are_an_error(tmp_path: Path) -> None:
    """A table names its banks, so each needs a name of its own; `default` is taken where it is asked as well."""
    mine = tmp_path / "default.toml"
    mine.write_text(MINE, encoding="utf-8")
    assert Extractor(banks=[mine]).columns == ("n_steps", "n_cats")
    with pytest.raises(UsageError, match=r"^two banks are called 'default', .* and .*default\.toml: rename one$"):
        Extractor(banks=[mine, "default"])


def test_an_unknown_column_lists_what_there_is() -> None:
    """The error names banks' features and functions."""
    with pytest.raises(UsageError) as caught:
        Extractor(["n_kiled"])
    said = str(caught.value)
    assert said.startswith("no feature 'n_kiled': there are n_success, ")
    assert function_names()[0] in said


def test_a_column_asked_for_twice_is_an_error() -> None:
    """Every column has a name of its own."""
    with pytest.raises(UsageError, match=r"^features stand twice: n_steps; every column needs a name of its own$"):
        Extractor(["n_steps", "finished", "n_steps"])


def asks(trajectory: Trajectory) -> float:
    return sum("?" in step.message for step in trajectory.agent_steps)


def test_a_function_of_ones_own_is_a_column(runs: list[Trajectory]) -> None:
    """It stands behind the banks, or where its name is asked for; the table names it."""
    table = Extractor(["mine", "n_steps"], functions={"mine": lambda t: len(t.task)}).table(runs)
    assert table.column("mine").tolist() == [2.0, 2.0, 2.0, 2.0]
    assert table.about["functions"] == ["mine"]
    assert Extractor(functions={"asks": asks}).columns[-1] == "asks"


def test_a_function_does_not_see_the_label(runs: list[Trajectory]) -> None:
    """Whatever it does, the outcome is not there to be read."""
    seen: list[Label] = []

    def spy(trajectory: Trajectory) -> float:
        seen.append(trajectory.label)
        return trajectory.label.value

    table = Extractor(["spy"], functions={"spy": spy}).table(runs)
    assert all(label.kind is LabelKind.UNKNOWN for label in seen)
    assert np.isnan(table.column("spy")).all()
    assert table.rewards[0] == 1.0


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_missing(runs: list[Trajectory], value: float) -> None:
    """A function's infinity is NaN in the table."""
    assert np.isnan(Extractor(["mine"], functions={"mine": lambda t: value}).table(runs).values).all()


def test_a_function_that_fails_is_named_with_the_trajectory(runs: list[Trajectory]) -> None:
    """The error is a sentence, and keeps the cause."""

    def fails(trajectory: Trajectory) -> float:
        return 1 / (len(trajectory.steps) - 1)

    with pytest.raises(UsageError) as caught:
        Extractor(["fails"], functions={"fails": fails}).row(runs[0])
    assert str(caught.value) == (
        "feature function 'fails' failed on trajectory 'a' of task 't1': ZeroDivisionError: division by zero; "
        "give NaN where it cannot tell"
    )
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_function_that_gives_no_number_is_named_too(runs: list[Trajectory]) -> None:
    """None is not taken for NaN."""
    with pytest.raises(UsageError, match="feature function 'none' failed on trajectory 'a' of task 't1': TypeError: "):
        Extractor(["none"], functions={"none": lambda t: None}).row(runs[0])  # type: ignore[dict-item, return-value]


@pytest.mark.parametrize("name", ["Mine", "reward", "n_steps", "my feature", ""])
def test_names_that_no_function_can_have(name: str) -> None:
    """Reserved and built-in names, and names that are no column."""
    with pytest.raises(UsageError, match=f"^a feature function cannot be called '{name}': "):
        Extractor(functions={name: asks})


def test_a_function_with_the_name_of_a_banks_feature_is_an_error() -> None:
    """Which of the two was meant cannot be guessed."""
    with pytest.raises(UsageError, match=r"^your function 'n_error' has the name of a feature: give it another name$"):
        Extractor(functions={"n_error": asks})


def test_the_order_of_attempts_changes_no_value(runs: list[Trajectory]) -> None:
    """Each attempt has the same row, siblings included, wherever it stands."""
    extractor = Extractor()
    straight, reverse = extractor.table(runs), extractor.table(runs[::-1])
    assert np.array_equal(straight.values, reverse.values[::-1], equal_nan=True)


def test_an_extractor_goes_to_another_process(runs: list[Trajectory]) -> None:
    """Pickled after use, it computes the same rows."""
    extractor = Extractor(functions={"asks": asks})
    table = extractor.table(runs)
    copy = pickle.loads(pickle.dumps(extractor))
    rows = [pickle.loads(pickle.dumps(copy.row(run))) for run in runs]
    assert np.array_equal(extractor.finish(rows).values, table.values, equal_nan=True)


def test_a_table_survives_its_file(runs: list[Trajectory], tmp_path: Path) -> None:
    """CSV and Parquet give back every column, NaN and hash."""
    table = Extractor().table(runs)
    for name in ("t.csv", "t.parquet"):
        table.write(tmp_path / name)
        back = FeatureTable.read(tmp_path / name)
        assert back.columns == table.columns
        assert np.array_equal(back.values, table.values, equal_nan=True)
        assert {key: back.about[key] for key in table.about} == table.about


def test_no_rows_are_an_empty_table() -> None:
    """A pool without trajectories has columns and no row."""
    assert Extractor(["n_steps", "answer_votes"]).table([]).values.shape == (0, 2)


def test_hostile_text_is_done_in_a_moment(attempt: Make) -> None:
    """A megabyte on one line, NUL bytes and replacement characters, in every channel."""
    import time

    hostile = "error: Killed \0\ufffd" + "a " * 250_000 + "1" * 500_000 + "\n" * 1_000
    step = Step(Actor.AGENT, hostile, hostile, (Command(hostile), Command(hostile, hostile)), (Observation(hostile),))
    start = time.process_time()
    row = Extractor().row(attempt(step, coverage=Coverage(exit_codes=True)))
    assert time.process_time() - start < 60.0  # a hang takes hours: this is no stopwatch
    assert np.isfinite(row.values).any()


@pytest.mark.shared
def test_answers_of_recorded_runs_elect_the_right_one(shared: Path) -> None:
    """On word problems with six attempts each, the answer with most votes is right for at least nine tasks in ten."""
    from bestofn.metrics import accuracy_by_task

    pool = Pool("gsmplus", shared / "pools" / "ag2" / "gsmplus-gpt4")
    table = Extractor(["answer_votes"]).table(pool.stream())
    votes = np.nan_to_num(table.column("answer_votes"), nan=-1.0)
    assert np.nanmean(accuracy_by_task(votes, table.rewards, table.groups)) > 0.91
