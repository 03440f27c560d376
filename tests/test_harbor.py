"""Harbor's trial directories: outcomes in all their shapes, endings, continuations, and nothing of the verifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import damaged, pooled, single, texts, written

from bestofn.readers import harbor
from bestofn.readers.draft import Draft, Source
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import EndingState, LabelKind, Usage

GOLD = "GOLD-1234"
RESULT: dict[str, Any] = {
    "task_name": "org/make-f",
    "trial_name": "make-f__Ab1",
    "agent_info": {"name": "my-agent"},
    "agent_result": {"n_input_tokens": 10, "n_output_tokens": 0, "cost_usd": 0.5},
    "verifier_result": {"rewards": {"reward": 1.0}},
    "exception_info": None,
    "started_at": "2026-01-01T00:00:00Z",
    "finished_at": "2026-01-01T00:02:00Z",
    "agent_execution": {"started_at": "2026-01-01T00:00:10Z", "finished_at": "2026-01-01T00:01:10Z"},
}


def trajectory(*messages: str, agent: str = "my-agent") -> dict[str, Any]:
    steps = [{"source": "user", "message": "Make f."}, *({"source": "agent", "message": text} for text in messages)]
    return {"schema_version": "ATIF-v1.7", "agent": {"name": agent}, "steps": steps}


def trial(folder: Path, result: Any = RESULT, steps: Any = ("Done.",), **verifier: str) -> Path:
    """A trial directory; `verifier` holds the texts of its reward files."""
    folder.mkdir(parents=True, exist_ok=True)
    if result is not None:
        written(folder / "result.json", result)
    if steps is not None:
        written(folder / "agent" / "trajectory.json", trajectory(*steps))
    for name, text in verifier.items():
        written(folder / "verifier" / name.replace("_", "."), text)
    return folder


def test_a_trial_is_one_attempt(tmp_path: Path) -> None:
    """Names and totals from result.json, text from agent/trajectory.json; the job's own files are passed over."""
    job = tmp_path / "job"
    trial(job / "make-f__Ab1")
    written(job / "result.json", {"n_total_trials": 1, "stats": {}})
    written(job / "config.json", {"job_name": "j"})
    attempts, problems = pooled(tmp_path)
    assert problems == []
    [found] = attempts
    assert (found.task, found.id, found.origin.format) == ("make-f", "make-f__Ab1", "harbor")
    assert found.usage == Usage(input_tokens=10, cost_usd=0.5, seconds=60.0)
    assert found.label.kind is LabelKind.PASS
    assert [step.message for step in found.agent_steps] == ["Done."]


def test_the_root_may_be_a_trial_itself(tmp_path: Path) -> None:
    """A pool of one trial directory reads it, and reads it again."""
    from bestofn.pool import Pool

    root = trial(tmp_path / "make-f__Ab1")
    [light] = Pool("x", root).trajectories
    assert light.body is None
    assert [step.message for step in light.agent_steps] == ["Done."]


@pytest.mark.parametrize(
    ("rewards", "kind", "value", "reason"),
    [
        ({"reward": 1}, LabelKind.PASS, 1.0, ""),
        ({"reward": "1.0"}, LabelKind.PASS, 1.0, ""),
        ({"reward": True}, LabelKind.PASS, 1.0, ""),
        ({"reward": False}, LabelKind.FAIL, 0.0, ""),
        ({"reward": 0.25, "style": 1}, LabelKind.SCORE, 0.25, ""),
        ({"correct": 1.0}, LabelKind.PASS, 1.0, "from the reward named 'correct'"),
        (0.5, LabelKind.SCORE, 0.5, ""),
        ({"correct": 1, "style": 0}, None, None, "several rewards and none is named 'reward': correct, style"),
        ({"reward": None}, None, None, "reward is null"),
        ({"reward": float("nan")}, None, None, "reward is nan"),
        ({"reward": float("inf")}, None, None, "reward is inf"),
        ({"reward": "good"}, None, None, "reward is 'good', which is no number"),
        ({}, None, None, "no reward"),
        (None, None, None, "no reward"),
    ],
)
def test_rewards_of_a_result(
    tmp_path: Path, rewards: Any, kind: LabelKind | None, value: float | None, reason: str
) -> None:
    """Numbers, their texts and truth values count; the reward named so counts; several others are never averaged."""
    trial(tmp_path / "t__1", {**RESULT, "verifier_result": {"rewards": rewards}})
    label = single(tmp_path).label
    assert (label.kind, label.reason) == (kind or LabelKind.UNKNOWN, reason)
    assert value is None or label.value == value


@pytest.mark.parametrize(
    ("files", "value", "reason"),
    [
        ({"reward_json": "0.5"}, 0.5, ""),
        ({"reward_json": '{"reward": 1}'}, 1.0, ""),
        ({"reward_txt": "1\n"}, 1.0, ""),
        ({"reward_txt": "true"}, 1.0, ""),
        ({"reward_txt": " \n"}, None, "reward.txt is empty"),
        ({"reward_txt": "nan"}, None, "reward is nan"),
        ({"reward_json": '{"reward": 1.0'}, None, "reward.json is not JSON"),
        ({"reward_json": "{}"}, None, "reward.json holds no reward"),
    ],
)
def test_reward_files_count_where_the_result_says_nothing(
    tmp_path: Path, files: dict[str, str], value: float | None, reason: str
) -> None:
    """reward.json and reward.txt are read in all their shapes; what cannot be read is unknown with its reason."""
    trial(tmp_path / "t__1", None, None, **files)
    label = single(tmp_path).label
    assert label.reason == reason
    assert label.kind is LabelKind.UNKNOWN if value is None else label.value == value


def test_places_that_disagree_are_named(tmp_path: Path) -> None:
    """result.json counts before reward.json, and that before reward.txt; the conflict is a problem and a remark."""
    trial(tmp_path / "a__1", RESULT, reward_txt="0")
    trial(tmp_path / "b__1", None, reward_json='{"reward": 1}', reward_txt="0")
    trial(tmp_path / "c__1", None, reward_json="{", reward_txt="0")
    trial(tmp_path / "d__1", {**RESULT, "trial_name": "d__1"}, reward_txt="1.0")
    attempts, problems = pooled(tmp_path)
    assert [attempt.label.value for attempt in attempts] == [1.0, 1.0, 0.0, 1.0]
    said = "result.json says 1, verifier/reward.txt says 0; result.json counts"
    conflicts = [problem for problem in problems if problem.kind is ProblemKind.LABEL_CONFLICT]
    assert conflicts == [
        Problem(ProblemKind.LABEL_CONFLICT, "a__1", said),
        Problem(
            ProblemKind.LABEL_CONFLICT,
            "b__1",
            "verifier/reward.json says 1, verifier/reward.txt says 0; verifier/reward.json counts",
        ),
        Problem(
            ProblemKind.LABEL_CONFLICT,
            "c__1",
            "reward.json is not JSON, verifier/reward.txt says 0; verifier/reward.txt counts",
        ),
    ]
    assert attempts[0].label.reason == said


@pytest.mark.parametrize(
    ("exception", "state", "label"),
    [
        ("AgentTimeoutError", EndingState.TIMED_OUT, 1.0),
        ("NonZeroAgentExitCodeError", EndingState.CRASHED, 1.0),
        ("ContextLengthExceededError", EndingState.CRASHED, 1.0),
        ("ContextWindowExceededError", EndingState.CRASHED, 1.0),
        ("InternalServerError", EndingState.CRASHED, "infra: InternalServerError"),
        ("RateLimitError", EndingState.CRASHED, "infra: RateLimitError"),
        ("AgentSetupTimeoutError", EndingState.CRASHED, "infra: AgentSetupTimeoutError"),
        ("RuntimeError", EndingState.CRASHED, "infra: RuntimeError"),
        ("VerifierTimeoutError", EndingState.FINISHED, "infra: VerifierTimeoutError"),
        ("AddTestsDirError", EndingState.FINISHED, "infra: AddTestsDirError"),
        ("RewardFileNotFoundError", EndingState.FINISHED, "no reward"),
    ],
)
def test_an_exception_keeps_or_takes_the_reward(
    tmp_path: Path, exception: str, state: EndingState, label: float | str
) -> None:
    """What stops the agent leaves its reward valid; what breaks a service or the verifier leaves no label, not 0."""
    trial(tmp_path / "t__1", {**RESULT, "exception_info": {"exception_type": exception, "exception_message": "x"}})
    found = single(tmp_path)
    assert found.ending.state is state
    if isinstance(label, float):
        assert found.label.value == label
    else:
        assert (found.label.kind, found.label.reason) == (LabelKind.UNKNOWN, label)


def test_a_timeout_without_a_reward_has_no_label(tmp_path: Path) -> None:
    """A valid exception makes no reward where none was given."""
    stopped = {**RESULT, "verifier_result": None, "exception_info": {"exception_type": "AgentTimeoutError"}}
    trial(tmp_path / "t__1", stopped)
    assert single(tmp_path).label.reason == "no reward"


def test_a_trial_without_a_result_is_unfinished(tmp_path: Path) -> None:
    """The attempt is kept under the name that its folder and settings give it; its label is unknown."""
    folder = trial(tmp_path / "make-f__Ab1", None)
    written(folder / "config.json", {"trial_name": "make-f__Ab1", "task": {"path": "tasks/make-f"}})
    found = single(tmp_path)
    assert (found.task, found.id) == ("make-f", "make-f__Ab1")
    assert (found.label.reason, found.ending.state) == ("unfinished", EndingState.UNFINISHED)


def test_the_agent_own_end_mark_counts_where_the_harness_names_no_exception(tmp_path: Path) -> None:
    """A run of a harness that marks its ends is unfinished without the mark, though the trial closed well."""
    steps = [{"source": "agent", "message": "x", "observation": {"results": [{"content": "$"}]}}]
    folder = trial(tmp_path / "t__1", steps=None)
    written(folder / "agent" / "trajectory.json", {"agent": {"name": "terminus-2"}, "steps": steps})
    assert single(tmp_path).ending.state is EndingState.UNFINISHED


def test_a_trial_without_a_trajectory_is_an_empty_attempt(tmp_path: Path) -> None:
    """An oracle's run has a label and no steps; that is named."""
    folder = trial(tmp_path / "t__1", steps=None)
    written(folder / "agent" / "oracle.txt", "did it")
    attempts, problems = pooled(tmp_path)
    assert (attempts[0].label.value, attempts[0].steps) == (1.0, ())
    assert [problem.kind for problem in problems] == [ProblemKind.EMPTY]


def test_a_broken_trajectory_keeps_the_attempt_and_names_the_file(tmp_path: Path) -> None:
    """What is no JSON cannot be read; what is JSON of another kind is an error, and no attempt."""
    written(trial(tmp_path / "a__1", steps=None) / "agent" / "trajectory.json", '{"steps": [')
    written(trial(tmp_path / "b__1", steps=None) / "agent" / "trajectory.json", {"turns": []})
    attempts, problems = pooled(tmp_path)
    assert [attempt.origin.path for attempt in attempts] == ["a__1"]
    assert [(p.kind, p.where) for p in problems] == [
        (ProblemKind.UNREADABLE, "a__1/agent/trajectory.json"),
        (ProblemKind.EMPTY, "a__1 (harbor)"),
        (ProblemKind.NO_TURNS, "b__1/agent/trajectory.json"),
    ]


def test_numbered_continuations_are_joined_without_references(tmp_path: Path) -> None:
    """trajectory.cont-2 comes after cont-1 and before cont-10."""
    folder = trial(tmp_path / "t__1", steps=("one",))
    for number in (10, 2, 1):
        written(folder / "agent" / f"trajectory.cont-{number}.json", trajectory(str(number)))
    written(folder / "agent" / "trajectory.summarization-1-summary.json", trajectory("summary"))
    assert [step.message for step in single(tmp_path).agent_steps] == ["one", "1", "2", "10"]


def test_trials_with_equal_text_are_two_attempts_and_a_copied_trial_is_one(tmp_path: Path) -> None:
    """Two trials may leave the same bytes; a copy of a whole trial directory is a duplicate."""
    trial(tmp_path / "t__1", {**RESULT, "trial_name": "t__1"})
    trial(tmp_path / "t__2", {**RESULT, "trial_name": "t__2"})
    trial(tmp_path / "copy", {**RESULT, "trial_name": "t__1"})
    attempts, problems = pooled(tmp_path)
    assert [attempt.id for attempt in attempts] == ["t__1", "t__2"]
    assert [problem.kind for problem in problems] == [ProblemKind.DUPLICATE]


def test_a_pipe_in_place_of_a_file_does_not_stop_the_reading(tmp_path: Path) -> None:
    """Named pipes are no files: reading them might never end."""
    import os

    folder = trial(tmp_path / "t__1", steps=None)
    (folder / "agent").mkdir()
    (folder / "verifier").mkdir()
    os.mkfifo(folder / "agent" / "trajectory.json")
    os.mkfifo(folder / "verifier" / "reward.txt")
    assert single(tmp_path).label.value == 1.0


def test_nothing_of_the_verifier_reaches_a_channel(tmp_path: Path) -> None:
    """Sentinels in the verifier's files, the exception and every label field are in no text that is shown."""
    leaky = {
        **RESULT,
        "verifier_result": {"rewards": {GOLD: 1.0}, "details": GOLD},
        "exception_info": {
            "exception_type": "AgentTimeoutError",
            "exception_message": GOLD,
            "exception_traceback": GOLD,
        },
        "agent_result": {"metadata": GOLD, "rollout_details": [GOLD]},
        "step_results": [GOLD],
        "task_checksum": GOLD,
    }
    folder = trial(tmp_path / "make-f__Ab1", leaky, reward_txt="1", reward_json=json.dumps({GOLD: 1}))
    written(folder / "verifier" / "test-stdout.txt", GOLD)
    written(folder / "verifier" / "ctrf.json", {"results": GOLD})
    written(folder / "exception.txt", GOLD)
    written(tmp_path / "result.json", {"n_total_trials": 1, "stats": {"evals": {GOLD: {"reward_stats": {}}}}})
    found = single(tmp_path)
    assert GOLD in found.label.reason
    assert GOLD not in texts(found)


def test_every_wrong_type_in_a_result_gives_an_attempt_or_a_problem(tmp_path: Path) -> None:
    """Each value of result.json replaced by every other kind of value, and taken away."""
    folder = trial(tmp_path / "make-f__Ab1", reward_json='{"reward": 1}')
    written(folder / "config.json", {"trial_name": "make-f__Ab1", "task": {"name": "x"}})
    checked = 0
    for place, form in damaged(RESULT):
        written(folder / "result.json", form if not isinstance(form, str) else json.dumps(form))
        found = list(harbor.read_directory(Source(folder, tmp_path)))
        drafts = [one for one in found if isinstance(one, Draft)]
        assert len(drafts) == 1, place
        assert drafts[0].task, place
        assert drafts[0].name, place
        checked += 1
    assert checked > 200


@pytest.mark.shared
def test_case_16_has_no_reward_and_stays_rankable(shared: Path) -> None:
    """No reward file is an unknown label with the reason, not a fail."""
    found = single(shared / "cases" / "16-harbor-no-reward-file")
    assert (found.label.kind, found.label.reason) == (LabelKind.UNKNOWN, "no reward")
    assert len(list(found.agent_steps)) == 1


@pytest.mark.shared
def test_case_17_reads_every_shape_of_reward(shared: Path) -> None:
    """Numbers, texts and truth values parse; several keys, bad, empty and NaN are unknown; a conflict is said."""
    attempts, problems = pooled(shared / "cases" / "17-harbor-reward-shapes")
    values = {t.origin.path: None if t.label.kind is LabelKind.UNKNOWN else t.label.value for t in attempts}
    assert values == {
        "a": 1.0, "b": 0.5, "c": None, "d": None, "e": None, "f": 1.0, "g": None, "h": 1.0, "i": 1.0, "j": None,
    }  # fmt: skip
    assert [p.where for p in problems if p.kind is ProblemKind.LABEL_CONFLICT] == ["f"]


@pytest.mark.shared
def test_case_20_tells_unfinished_broken_and_timed_out(shared: Path) -> None:
    """An interrupted trial is kept, a broken one has no label, a timeout with a reward has its reward."""
    attempts, _ = pooled(shared / "cases" / "20-harbor-unfinished-and-infra-failed")
    assert [(t.id, t.label.reason or t.label.kind.value, t.ending.state) for t in attempts] == [
        ("alpha__AAAAAAA", "unfinished", EndingState.UNFINISHED),
        ("alpha__BBBBBBB", "infra: InternalServerError", EndingState.CRASHED),
        ("alpha__CCCCCCC", "pass", EndingState.TIMED_OUT),
    ]


@pytest.mark.shared
def test_real_jobs_read(shared: Path) -> None:
    """The trials of five real jobs: finished, oracle, failed agent, authentication error, interrupted."""
    attempts, problems = pooled(shared / "samples" / "atif-harbor")
    states = {t.id: (t.label.reason or t.label.kind.value, t.ending.state.value, len(t.steps)) for t in attempts}
    assert states == {
        "task030__UX724rt": ("infra: AuthenticationError", "crashed", 1),
        "task039__ZCsLCTX": ("fail", "crashed", 1),
        "task021__9KPt9kK": ("fail", "finished", 9),
        "task030__9Yyoxh9": ("pass", "finished", 0),
        "task039__zjNXSmk": ("unfinished", "unfinished", 11),
    }
    assert {problem.kind for problem in problems} == {ProblemKind.UNKNOWN_LABEL, ProblemKind.EMPTY}
