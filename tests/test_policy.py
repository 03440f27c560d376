"""Which selector a task gets by default."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bestofn.errors import TableError
from bestofn.fitting import Fits
from bestofn.policy import decide
from bestofn.selector import EMPTY, baseline
from bestofn.table import FeatureTable

NAN = math.nan
COLUMNS = ("finished", "n_commands", "n_characters", "n_error")


def made(swing: int, passing: int = 0, failing: int = 0, *, seed: int = 0, turns: float | None = None) -> FeatureTable:
    """So many tasks of each kind, 3 attempts each."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(swing + passing + failing):
        for attempt in range(3):
            reward = float(attempt == 0) if task < swing else float(task < swing + passing)
            values = [
                1.0,
                9.0,
                float(rng.integers(1, 9)),
                float(rng.integers(0, 3)),
                *([] if turns is None else [turns]),
            ]
            rows.append((f"task {task:03}", f"{task}-{attempt}", values, reward, False, ""))
    return FeatureTable.build(rows, [*COLUMNS, *([] if turns is None else ["n_user_turns"])])


def unlabelled(table: FeatureTable) -> FeatureTable:
    return replace(table, rewards=np.full(len(table), NAN))


def with_column(table: FeatureTable, name: str, values) -> FeatureTable:
    changed = table.values.copy()
    changed[:, table.columns.index(name)] = values
    return replace(table, values=changed)


def test_few_swing_tasks_get_the_rule():
    """Under 20 swing tasks among the others: gate, then shortest, and the line says why."""
    table = made(17, passing=40)
    decision = decide(table)
    assert set(decision.selectors) == {"gate-shortest"}
    assert (decision.scores == baseline("gate-shortest").scores(table)).all()
    assert decision.line == (
        "gate-shortest: of the other tasks 17 are swing tasks, too few to learn from (20 are needed)"
    )


def test_from_20_swing_tasks_among_the_others_weights_are_learned():
    """Re-weighting, each task's from the other tasks."""
    table = made(26)
    decision = decide(table)
    assert set(decision.selectors) == {"reweight"}
    assert (decision.scores == Fits(table).scores("reweight")).all()
    assert decision.line == (
        "reweight: features weighted for each task on the other tasks, 25 of them swing tasks (20 or more)"
    )


def test_from_50_swing_tasks_among_the_others_features_are_selected():
    """Forward selection, redone without each task."""
    table = made(60)
    decision = decide(table)
    assert set(decision.selectors) == {"forward"}
    assert (decision.scores == Fits(table).scores("forward")).all()


def test_a_task_does_not_count_itself():
    """With exactly 20 swing tasks these have 19 others and get the rule; the rest have 20 and get weights."""
    decision = decide(made(20, passing=30))
    assert decision.selectors == ("gate-shortest",) * 20 + ("reweight",) * 30
    assert decision.line.startswith("reweight for 30 of 50 tasks: ")
    assert "; gate-shortest for 20 of 50 tasks: of the other tasks 19 are swing tasks" in decision.line


def test_a_weak_pool_gets_the_gate_alone():
    """Where the other tasks' Pass@1 is low, shorter is not trusted."""
    decision = decide(made(5, passing=1, failing=20))
    assert set(decision.selectors) == {"gate"}
    assert decision.line.endswith(", and where Pass@1 is below 60% shorter is not better")


def test_without_labels_the_rule_is_taken():
    """Nothing to learn from, and nothing that speaks against the shortest."""
    for decision in (decide(unlabelled(made(60))), decide(made(60), labels=False)):
        assert set(decision.selectors) == {"gate-shortest"}
        assert decision.line == "gate-shortest: there are no labels to learn from"


def test_without_labels_many_dropped_attempts_look_weak():
    """A pool of which the gate drops more than a third gets the gate alone."""
    table = unlabelled(made(10))
    finished = np.ones(len(table))
    finished[::3] = 0.0
    finished[1::6] = 0.0
    assert decide(with_column(table, "finished", finished)).line == (
        "gate: there are no labels to learn from, and the gate drops 50% of the attempts, so the pool looks weak"
    )


def test_a_dialogue_gets_the_gate_alone():
    """Told by the caller, or by the column `n_user_turns`."""
    for decision in (decide(made(3, 30), user_turns=4.0), decide(made(3, 30, turns=4.0))):
        assert set(decision.selectors) == {"gate"}
        assert "in a dialogue (4.0 user turns an attempt) shorter is not better" in decision.line
    assert set(decide(made(3, 30, turns=1.0)).selectors) == {"gate-shortest"}


def test_cut_texts_get_the_gate_alone():
    """Where no length is known, the line says so."""
    table = with_column(made(3, 30), "n_characters", NAN)
    assert set(decide(table).selectors) == {"gate"}
    assert decide(table).line.endswith("and the recordings do not tell lengths")


def test_a_table_without_gate_columns_makes_do():
    """A user's own table is ranked by what it has: the shortest, or nothing."""
    table = made(3, 30)
    lengths = replace(table, columns=("n_characters",), values=table.take(["n_characters"]))
    nothing = replace(table, columns=("judge",), values=table.take(["n_error"]))
    assert set(decide(lengths).selectors) == {"shortest"}
    assert set(decide(nothing).selectors) == {"random"}


def test_recordings_without_any_turn_are_not_ranked():
    """All attempts share the pick, and the line says why."""
    table = made(60)
    decision = decide(replace(table, empty=np.ones(len(table), bool)))
    assert (decision.scores == EMPTY).all()
    assert decision.line == (
        "no recording holds a turn of the agent, so nothing tells the attempts apart: all share the pick"
    )
    nothing = table.rows(np.zeros(len(table), bool))
    assert decide(nothing).selectors == ()


def test_scores_outside_0_to_1_are_refused_only_where_they_would_be_learned_from():
    """With too few swing tasks, or with labels left aside, any reward will do."""
    many, few = (replace(t, rewards=t.rewards * 100) for t in (made(30), made(5, 30)))
    with pytest.raises(TableError, match="--pass-at"):
        decide(many)
    assert set(decide(many, labels=False).selectors) == {"gate-shortest"}
    assert set(decide(few).selectors) == {"gate-shortest"}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(5, 1, 2), (19, 5, 0), (20, 3, 0), (21, 0, 2), (50, 0, 0), (51, 1, 0), (4, 3, 1), (6, 4, 4)]),
    st.data(),
)
def test_a_tasks_own_rewards_never_change_what_it_gets(kinds, data):
    """Not its scores, to the last bit, and not its selector: at every threshold of the policy."""
    table = made(*kinds)
    task = data.draw(st.sampled_from([0, kinds[0] - 1, sum(kinds) - 1]))
    mine = table.groups == task
    rewards = table.rewards.copy()
    rewards[mine] = data.draw(st.lists(st.sampled_from([0.0, 1.0, NAN, 0.4]), min_size=3, max_size=3))
    before, after = decide(table), decide(replace(table, rewards=rewards))
    assert before.selectors[task] == after.selectors[task]
    assert (before.scores[mine] == after.scores[mine]).all()


def test_a_tasks_own_rewards_leave_no_rounding_at_the_bar_of_weak_pools():
    """Where the other tasks stand at the bar itself, no own outcome tips the balance."""
    for n_others in range(5, 19):
        for share in (0.6, 0.59, 0.61):
            own = [0.0, 0.1, 0.3, 1 / 3, 0.7, 1.0]
            choices = set()
            for value in own:
                rows = [("own", str(i), [1.0, 9.0, float(i), 0.0], value, False, "") for i in range(2)]
                rows += [
                    (f"{t}", f"{i}", [1.0, 9.0, float(i), 0.0], share, False, "") for t in range(n_others) for i in "12"
                ]
                choices.add(decide(FeatureTable.build(rows, COLUMNS)).selectors[0])
            assert len(choices) == 1


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([(5, 1, 2), (20, 3, 0), (51, 1, 0)]), st.randoms())
def test_shuffled_attempts_get_the_same(kinds, random):
    """Scores and line do not depend on the order of rows."""
    table = made(*kinds)
    order = list(range(len(table)))
    random.shuffle(order)
    before, after = decide(table), decide(table.rows(np.array(order)))
    assert (before.scores[order] == after.scores).all()
    assert before.line == after.line


def test_choosing_imports_no_heavy_library():
    """Selection and evaluation run on numpy alone, so that the command line starts quickly."""
    code = (
        "import sys, bestofn.policy, bestofn.evaluation, bestofn.pooling, bestofn.selector_file; "
        "print([m for m in ('pandas', 'sklearn', 'scipy', 'pyarrow', 'joblib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
