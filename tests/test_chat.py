"""Our own simple format and plain OpenAI messages, whole and broken."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from recordings import pooled, single, survives, texts, written

from bestofn.content import content_root
from bestofn.readers import chat
from bestofn.readers.problem import Problem, ProblemKind
from bestofn.trajectory import EndingState, Label, LabelKind, Usage

RECORD: dict[str, Any] = {
    "task": "fix-build",
    "id": "fix-build-3",
    "reward": 1,
    "instruction": "Make the build pass.",
    "ending": "finished",
    "usage": {"input_tokens": 5210, "output_tokens": 840, "cached_tokens": 0, "cost_usd": 0.02, "seconds": 71},
    "messages": [
        {"role": "system", "content": "You work in a shell."},
        {"role": "user", "content": "Make the build pass."},
        {
            "role": "assistant",
            "content": "I look first.",
            "reasoning_content": "What fails?",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "ok", "exit_code": 0},
        {"role": "assistant", "content": "The build passes."},
    ],
}
TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def label_of(tmp_path: Path, **fields: Any) -> Label:
    """The label of a record with these fields."""
    return single(written(tmp_path / "a.json", {"task": "t", "messages": TALK, **fields})).label


def test_a_record_is_read_with_all_that_it_says(tmp_path: Path) -> None:
    """Task, id, label, ending, instruction and usage come from the record; a total of 0 is not recorded."""
    attempt = single(written(tmp_path / "a.json", RECORD))
    assert (attempt.task, attempt.id, attempt.instruction) == ("fix-build", "fix-build-3", "Make the build pass.")
    assert attempt.label == Label(LabelKind.PASS, 1.0)
    assert attempt.ending.state is EndingState.FINISHED
    assert attempt.usage == Usage(5210, 840, None, 0.02, 71.0)
    assert attempt.coverage.exit_codes
    assert [step.reasoning for step in attempt.agent_steps] == ["What fails?", ""]
    assert attempt.origin.format == "chat"


def test_json_lists_and_jsonl_hold_one_record_an_attempt(tmp_path: Path) -> None:
    """The same records give the same attempts whether in a JSON list or one a line."""
    records = [{**RECORD, "id": f"r{i}", "reward": i} for i in range(2)]
    for name in ("list.json", "lines.jsonl", "lines.json"):
        content = records if name != "lines.json" else "\n".join(map(json.dumps, records))
        attempts, problems = pooled(written(tmp_path / name / name, content))
        assert [(a.id, a.origin.record, a.label.value) for a in attempts] == [("r0", 0, 0.0), ("r1", 1, 1.0)]
        assert problems == []


def test_a_light_attempt_reads_its_own_record_again(tmp_path: Path) -> None:
    """Steps that were released come back from the same record."""
    from bestofn.pool import Pool

    lines = [{"task": "t", "reward": 1, "messages": [{"role": "assistant", "content": f"I am {i}"}]} for i in range(3)]
    pool = Pool("p", written(tmp_path / "t.jsonl", lines))
    assert [attempt.steps[0].message for attempt in pool.trajectories] == ["I am 0", "I am 1", "I am 2"]
    assert [attempt.id for attempt in pool.trajectories] == ["t#0", "t#1", "t#2"]


def test_bare_messages_are_one_attempt_with_an_unknown_label(tmp_path: Path) -> None:
    """A list of messages and JSONL of messages are one attempt each; the task is the folder, at the root the file."""
    written(tmp_path / "at-root.json", TALK)
    written(tmp_path / "fix-build" / "try1.json", [*TALK, {"role": "user", "content": "thanks"}])
    written(tmp_path / "fix-build" / "try2.jsonl", TALK)
    attempts, problems = pooled(tmp_path)
    assert [(a.id, a.task) for a in attempts] == [
        ("at-root", "at-root"),
        ("fix-build/try1", "fix-build"),
        ("fix-build/try2", "fix-build"),
    ]
    assert {a.label.reason for a in attempts} == {"no label in this format"}
    assert {problem.kind for problem in problems} == {ProblemKind.UNKNOWN_LABEL}
    assert attempts[0].instruction == "hi"


@pytest.mark.parametrize(
    ("reward", "kind", "value"),
    [
        (1, LabelKind.PASS, 1.0),
        (0.0, LabelKind.FAIL, 0.0),
        (True, LabelKind.PASS, 1.0),
        ("1.0", LabelKind.PASS, 1.0),
        (" 0\n", LabelKind.FAIL, 0.0),
        ("false", LabelKind.FAIL, 0.0),
        (0.25, LabelKind.SCORE, 0.25),
    ],
)
def test_rewards_that_say_something(tmp_path: Path, reward: Any, kind: LabelKind, value: float) -> None:
    """Numbers, truth values and their texts are rewards."""
    assert label_of(tmp_path, reward=reward) == Label(kind, value)


@pytest.mark.parametrize(
    ("reward", "reason"),
    [
        (None, "reward is null"),
        (math.nan, "reward is nan"),
        (-math.inf, "reward is -inf"),
        ("", "reward is '', which is no number"),
        ("nan", "reward is nan"),
        ("good", "reward is 'good', which is no number"),
        ([1], "reward is a list, which is no number"),
        ({"reward": 1}, "reward is an object, which is no number"),
        (10**400, "reward is too large a number"),
    ],
)
def test_a_reward_that_says_nothing_is_unknown_and_never_zero(tmp_path: Path, reward: Any, reason: str) -> None:
    """Null, NaN, infinities and other things give an unknown label with the reason, which the pool tells."""
    file = written(tmp_path / "a.json", {"task": "t", "messages": TALK, "reward": reward})
    attempts, problems = pooled(file)
    assert attempts[0].label.kind is LabelKind.UNKNOWN
    assert problems == [Problem(ProblemKind.UNKNOWN_LABEL, "a.json (chat)", reason)]


def test_label_in_words(tmp_path: Path) -> None:
    """`label` is pass, fail or unknown, and `label_reason` says why."""
    assert label_of(tmp_path, label="pass") == Label(LabelKind.PASS, 1.0)
    assert label_of(tmp_path, label="FAIL", label_reason="2 tests") == Label(LabelKind.FAIL, 0.0, "2 tests")
    assert label_of(tmp_path, label="unknown", label_reason="not run").reason == "label is 'unknown': not run"
    assert label_of(tmp_path, label="maybe").reason == "label is 'maybe', which is no number"
    assert label_of(tmp_path).reason == "the record has neither reward nor label"


def test_label_stands_in_for_an_unusable_reward(tmp_path: Path) -> None:
    """Where the reward is NaN and the label is not, the label counts and the remark stays."""
    assert label_of(tmp_path, reward=math.nan, label="pass") == Label(LabelKind.PASS, 1.0, "reward is nan")


def test_reward_and_label_that_disagree_are_named(tmp_path: Path) -> None:
    """The reward is taken, and the conflict told; a score beside a word is none."""
    file = written(tmp_path / "a.json", {"task": "t", "messages": TALK, "reward": 1, "label": "fail"})
    attempts, problems = pooled(file)
    assert problems == [
        Problem(ProblemKind.LABEL_CONFLICT, "a.json", "reward is 1 and label is 'fail'; the reward was taken")
    ]
    assert attempts[0].label.kind is LabelKind.PASS
    assert label_of(tmp_path, reward=0.7, label="pass") == Label(LabelKind.SCORE, 0.7)


@pytest.mark.parametrize(
    ("word", "state", "refused"),
    [
        ("finished", EndingState.FINISHED, False),
        ("timed_out", EndingState.TIMED_OUT, False),
        ("Timed out", EndingState.TIMED_OUT, False),
        ("unfinished", EndingState.UNFINISHED, False),
        ("crashed", EndingState.CRASHED, False),
        ("refused", EndingState.FINISHED, True),
        ("unknown", EndingState.UNKNOWN, False),
        (None, EndingState.UNKNOWN, False),
    ],
)
def test_endings(tmp_path: Path, word: Any, state: EndingState, refused: bool) -> None:
    """`ending` says how the run ended; a conversation without one has an unknown ending."""
    ending = single(written(tmp_path / "a.json", {"task": "t", "messages": TALK, "ending": word})).ending
    assert (ending.state, ending.refused) == (state, refused)


def test_an_unknown_ending_is_said(tmp_path: Path) -> None:
    """A word that is no ending leaves it unknown, with the words there are."""
    ending = single(written(tmp_path / "a.json", {"task": "t", "messages": TALK, "ending": "won"})).ending
    assert ending.state is EndingState.UNKNOWN
    assert ending.reason == (
        "ending is 'won', which is not one of finished, timed_out, unfinished, crashed, refused, unknown"
    )


def test_fields_may_stand_in_metadata(tmp_path: Path) -> None:
    """The same names are read from `metadata` where the record itself lacks them."""
    metadata = {"task_id": 12, "id": "m1", "reward": 0}
    attempt = single(written(tmp_path / "a.json", {"messages": TALK, "metadata": metadata}))
    assert (attempt.task, attempt.id, attempt.label.kind) == ("12", "m1", LabelKind.FAIL)


def test_torn_and_cut_lines_are_counted_and_the_others_read(tmp_path: Path) -> None:
    """A torn line is named by its number and its second record saved; a cut tail is a truncated recording."""
    good = [json.dumps({**RECORD, "id": f"r{i}"}) for i in range(4)]
    content = "\n".join([good[0], '{"task":"fix-bu' + good[1], good[2], good[3][:90]])
    attempts, problems = pooled(written(tmp_path / "runs.jsonl", content))
    assert [attempt.id for attempt in attempts] == ["r0", "r1", "r2"]
    assert [(problem.kind, problem.where) for problem in problems] == [
        (ProblemKind.BAD_LINE, "runs.jsonl, line 2"),
        (ProblemKind.TRUNCATED, "runs.jsonl, line 4"),
    ]


def test_a_cut_file_of_messages_keeps_its_whole_lines(tmp_path: Path) -> None:
    """Messages before the cut make the attempt, and the file is named as truncated."""
    attempts, problems = pooled(written(tmp_path / "a.jsonl", "\n".join([*map(json.dumps, TALK), '{"role": "us'])))
    assert [step.message for step in attempts[0].steps] == ["hi", "hello"]
    assert problems[0].kind is ProblemKind.TRUNCATED


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    """What UTF-8 cannot hold is replaced before anything else sees it."""
    content = json.dumps([{"role": "user", "content": "5 m\udcb2"}, {"role": "assistant", "content": "cut \ud83d"}])
    attempt = single(written(tmp_path / "a.json", content))
    assert [step.message for step in attempt.steps] == ["5 m\ufffd", "cut \ufffd"]
    texts(attempt).encode("utf-8")


def test_records_without_a_turn_are_an_error_and_no_attempt(tmp_path: Path) -> None:
    """Messages that are none are an error; no messages at all are an empty recording, which is named."""
    lines = [
        {"task": "t", "reward": 1, "messages": [{"speaker": "a", "text": "b"}]},
        {"task": "t", "reward": 1, "messages": "hello"},
        {"task": "t", "reward": 1, "messages": []},
        {"task": "t", "reward": 0, "messages": None},
    ]
    attempts, problems = pooled(written(tmp_path / "a.jsonl", lines))
    assert [attempt.origin.record for attempt in attempts] == [2, 3]
    assert [(problem.kind, problem.where) for problem in problems] == [
        (ProblemKind.NO_TURNS, "a.jsonl, line 1"),
        (ProblemKind.NO_TURNS, "a.jsonl, line 2"),
        (ProblemKind.EMPTY, "a.jsonl, record 2 (chat)"),
        (ProblemKind.EMPTY, "a.jsonl, record 3 (chat)"),
    ]


def test_a_bad_record_among_good_ones_is_named(tmp_path: Path) -> None:
    """A record that is none, and a message that is none, are told; the others are read."""
    attempts, problems = pooled(written(tmp_path / "a.json", [RECORD, 7, {"task": "t", "messages": [*TALK, None, 3]}]))
    assert len(attempts) == 2
    assert problems[:2] == [
        Problem(ProblemKind.BAD_LINE, "a.json, record 1", "no record with messages"),
        Problem(ProblemKind.BAD_LINE, "a.json, record 2", "message 2 and 1 more are no chat message, left out"),
    ]


def test_copies_are_left_out(tmp_path: Path) -> None:
    """The same record twice is one attempt and one duplicate."""
    attempts, problems = pooled(written(tmp_path / "a.json", [RECORD, RECORD]))
    assert len(attempts) == 1
    assert [problem.kind for problem in problems] == [ProblemKind.DUPLICATE]


def test_no_outcome_and_no_answer_reaches_anything(tmp_path: Path) -> None:
    """Whatever a record holds under other keys, beside or inside its messages, stands in no text, name or number."""
    gold = "GOLD-1234"
    keys = (
        "answer",
        "target",
        "gold",
        "expected",
        "score",
        "ground_truth",
        "verifier",
        "label_reason",
        "patch",
        "scores",
    )
    messages = [
        {**message, "grade": gold, "expected": gold, "metadata": {"answer": gold}} for message in RECORD["messages"]
    ]
    record = {**RECORD, "messages": messages, **dict.fromkeys(keys, gold), "metadata": dict.fromkeys(keys, gold)}
    attempt = single(written(tmp_path / "a.json", record))
    assert gold not in texts(attempt)
    assert attempt.steps == single(written(tmp_path / "b.json", RECORD)).steps
    other = single(written(tmp_path / "c.json", {**record, "reward": 0}))
    assert texts(other) == texts(attempt)


@pytest.mark.parametrize(
    "foreign",
    [
        {"id": "s1", "task_id": "4", "trial": 0, "termination_reason": "user_stop", "messages": TALK},
        {"id": 1, "epoch": 1, "input": "q", "target": "4", "messages": TALK, "scores": {}},
        {"sessionId": "s", "projectHash": "h", "messages": [{"type": "user", "content": "hi"}]},
        {"info": {"id": "ses"}, "messages": [{"info": {"role": "user"}, "parts": []}]},
        {"trajectory_format": "mini-swe-agent-1.1", "messages": TALK},
        {"is_correct": False, "ground_truth": "x", "history": TALK},
        [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        [{"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": []}}],
        [{"task_id": 0, "reward": 1.0, "info": {}, "traj": TALK}],
        [{"task": "t", "codes": ["1.1"], "score": 0.5}],
        {"name": "package", "version": "1.0.0", "dependencies": {}},
        {"task_name": "t", "verifier_result": {"rewards": {"reward": 1.0}}},
        [],
        {},
    ],
)
def test_other_formats_are_not_taken_for_chat(tmp_path: Path, foreign: Any) -> None:
    """Records of other formats are not claimed, even where they hold messages."""
    from bestofn.readers.document import load_document

    assert not chat.claims(load_document(written(tmp_path / "a.json", foreign)))


def test_damaged_records_give_an_attempt_or_a_problem(tmp_path: Path) -> None:
    """Whatever stands in any place of a record, or is missing there, reading it does not fail."""
    record = {**RECORD, "label": "pass", "label_reason": "r", "metadata": {"task_id": "m"}}
    assert survives(chat, record, tmp_path / "t" / "a.json") > 300
    assert survives(chat, [{"task": "t", "messages": TALK}], tmp_path / "t" / "b.json") > 80
    assert survives(chat, RECORD["messages"], tmp_path / "t" / "c.json") > 200


def test_content_nested_beyond_reason_is_an_unreadable_file(tmp_path: Path) -> None:
    """No depth of nesting fails the pool; the file is named."""
    content: Any = "x"
    for _ in range(450):
        content = [{"content": content}]
    file = written(tmp_path / "a.json", {"task": "t", "messages": [{"role": "user", "content": content}]})
    assert pooled(file) == ([], [Problem(ProblemKind.UNREADABLE, "a.json", "nested too deeply")])


def test_the_documented_example_is_read_as_it_says(tmp_path: Path) -> None:
    """Each example in data/FORMAT.md is read without a problem."""
    page = (content_root("data") / "FORMAT.md").read_text(encoding="utf-8")
    examples = [block.partition("\n") for block in page.split("```")[1::2]]
    found = [(kind, body) for kind, _, body in examples if kind in ("json", "jsonl")]
    assert [kind for kind, _ in found] == ["json", "jsonl"]
    for kind, body in found:
        attempts, problems = pooled(written(tmp_path / kind / f"a.{kind}", body))
        assert problems == []
        assert [attempt.task for attempt in attempts] == ["fix-build"] * (1 if kind == "json" else 2)
        assert all(attempt.label.kind is not LabelKind.UNKNOWN for attempt in attempts)


@pytest.mark.parametrize(("value", "text"), [(1.5, "1.5"), (7, "7"), (7.0, "7"), (0, "0"), (" t ", "t")])
def test_a_task_that_is_a_number_is_its_text(tmp_path: Path, value: Any, text: str) -> None:
    """The attempts at task 7 meet, whichever way their records write it."""
    assert single(written(tmp_path / "a.json", {"task": value, "reward": 1, "messages": TALK})).task == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "true"),
        (None, "null"),
        (["t"], '["t"]'),
        ({"name": "t"}, '{"name":"t"}'),
        ("", "''"),
        (" ", "' '"),
        (math.nan, "null"),
    ],
)
def test_an_unusable_task_leaves_its_record_out(tmp_path: Path, value: Any, shown: str) -> None:
    """A record that states a task without a name is told, and is no attempt at the file's name."""
    lines = [{"task": value, "reward": 1, "messages": TALK}, {"task": "t", "reward": 1, "messages": TALK}]
    attempts, problems = pooled(written(tmp_path / "a.jsonl", lines))
    assert [attempt.task for attempt in attempts] == ["t"]
    assert problems == [
        Problem(ProblemKind.BAD_LINE, "a.jsonl, line 1", f"task is {shown}: give text or a number"),
    ]


def test_another_key_may_name_the_task(tmp_path: Path) -> None:
    """Of `task`, `task_id`, `task_name` and `instance_id` the first usable one counts; without any, the file does."""
    assert single(written(tmp_path / "a.json", {"task": None, "task_id": 4, "reward": 1, "messages": TALK})).task == "4"
    assert single(written(tmp_path / "b.json", {"id": "x", "reward": 1, "messages": TALK})).task == "b"
    _, problems = pooled(written(tmp_path / "c.json", {"messages": TALK, "metadata": {"task": [1]}}))
    assert problems == [Problem(ProblemKind.BAD_LINE, "c.json", "task is [1]: give text or a number")]


def test_tasks_too_long_to_be_told_apart_are_not_joined(tmp_path: Path) -> None:
    """Numbers beyond 64 bits lose their last digits on the way, so that two tasks might become one."""
    line = '{"task": 7777777777777777777777777, "reward": 1, "messages": []}'
    _, problems = pooled(written(tmp_path / "a.json", line))
    what = "task is 7.777777777777778e+24: give text or a number of at most 19 digits"
    assert problems == [Problem(ProblemKind.BAD_LINE, "a.json", what)]


def test_a_number_of_any_length_is_an_id(tmp_path: Path) -> None:
    """Python's limit on long numbers loses no record, alone or among lines."""
    digits = "7" * 5000
    talk = json.dumps(TALK)
    record = f'{{"task": "t", "id": {digits}, "reward": 1, "messages": {talk}}}'
    for name, content in (("a.json", record), ("b.jsonl", record + "\n")):
        attempts, problems = pooled(written(tmp_path / name, content))
        assert ([attempt.id for attempt in attempts], problems) == ([digits], [])
    huge = f'{{"task": "t", "id": "x", "reward": {digits}, "messages": {talk}}}'
    assert single(written(tmp_path / "c.json", huge)).label.kind is LabelKind.UNKNOWN


@pytest.mark.parametrize(
    "extra",
    [
        {"reward_info": {"reward": 1.0, "secret": "GOLD-1234"}},
        {"steps": [{"source": "agent", "message": "GOLD-1234"}], "agent": {"name": "a"}, "schema_version": "ATIF-v1.6"},
        {"steps": 12},
        {"info": {"exit_status": "Submitted", "submission": "GOLD-1234"}, "trajectory_format": "own-1"},
        {"history": [{"role": "assistant", "content": "GOLD-1234"}]},
        {"trajectory": [{"action": "GOLD-1234", "observation": "x"}]},
        {"trajectory": {"schema_version": "ATIF-v1.6", "agent": {}, "steps": []}},
        {"trajectory": ["GOLD-1234"], "other_data": {"correct": True}, "problem_statement": "GOLD-1234"},
        {"traj": [{"role": "assistant", "content": "GOLD-1234"}]},
        {"termination_reason": "user_stop", "trial": 0, "evaluation_criteria": {"gold": "GOLD-1234"}},
        {"epoch": 1, "input": "q", "target": "GOLD-1234", "scores": {}, "samples": []},
        {"sessionId": "s", "projectHash": "h", "loglines": []},
        {"run_type": "llm", "dotted_order": "1", "mistake_agent": "a", "mistake_step": "1"},
    ],
)
def test_other_keys_make_a_record_no_other_formats(tmp_path: Path, extra: dict[str, Any]) -> None:
    """With a task and messages a record is ours; what stands beside them reaches nothing."""
    plain = single(written(tmp_path / "a.json", RECORD))
    for name, content in (("b.json", {**RECORD, **extra}), ("c.json", [{**RECORD, **extra}])):
        attempt = single(written(tmp_path / name, content))
        assert (attempt.origin.format, attempt.steps, attempt.label) == ("chat", plain.steps, plain.label)
        assert "GOLD-1234" not in texts(attempt)


@pytest.mark.parametrize("key", ["uuid", "turn_idx", "payload", "requestor"])
def test_other_keys_of_a_message_do_not_either(tmp_path: Path, key: str) -> None:
    """Every message of a record with a task may have further keys; none is read."""
    messages = [{**message, key: "GOLD-1234"} for message in TALK]
    attempt = single(written(tmp_path / "a.json", {"task": "t", "reward": 1, "messages": messages}))
    assert attempt.steps == single(written(tmp_path / "b.json", {"task": "t", "messages": TALK})).steps


@pytest.mark.parametrize("key", ["steps", "history", "trajectory", "reward_info"])
def test_a_task_id_and_a_plain_key_are_ours_as_well(tmp_path: Path, key: str) -> None:
    """A key alone is no shape of another format."""
    assert single(written(tmp_path / "a.json", {"task_id": "t", "messages": TALK, key: 12})).origin.format == "chat"


@pytest.mark.parametrize("record", [{"task": "t"}, {"id": "x"}, {"reward": 1}, {}, {"task": "t", "steps": 0}])
@pytest.mark.parametrize("format_name", [None, "chat"])
def test_no_messages_are_an_empty_attempt_with_and_without_a_named_format(
    tmp_path: Path, record: dict[str, Any], format_name: str | None
) -> None:
    """A record of ours whose list of messages is empty stays an attempt, named as empty."""
    attempts, problems = pooled(written(tmp_path / "a.json", {**record, "messages": []}), format_name)
    assert [attempt.steps for attempt in attempts] == [()]
    assert ProblemKind.EMPTY in {problem.kind for problem in problems}


@pytest.mark.shared
def test_arguments_case(shared: Path) -> None:
    """Case 15: every call is kept with its raw text, and only objects are parsed."""
    attempt = single(shared / "cases" / "15-tool-arguments-not-an-object")
    commands = attempt.steps[1].commands
    assert len(commands) == 7
    assert [command.arguments is not None for command in commands] == [True, *[False] * 5, True]
    assert [command.text for command in commands[1:6]] == ["", '{"city": "Os', "null", '["Oslo"]', '"Oslo"']
    assert [(o.command, o.text) for o in attempt.steps[1].observations] == [(0, "cold")]


@pytest.mark.shared
def test_no_other_sample_is_taken_for_chat(shared: Path) -> None:
    """Of all samples and cases only plain messages are claimed."""
    from bestofn.readers.document import load_document
    from bestofn.readers.registry import SUFFIXES

    claimed: set[str] = set()
    for root in (shared / "samples", shared / "cases"):
        for file in root.rglob("*"):
            if file.suffix in SUFFIXES and file.is_file():
                try:
                    document = load_document(file)
                except ValueError:
                    continue
                if chat.claims(document):
                    claimed.add(file.relative_to(root).parts[0])
    assert claimed == {"15-tool-arguments-not-an-object", "mini-swe-agent"}
