"""One run as a judge reads it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import acted, long_run, run, said

from bestofn.errors import UsageError
from bestofn.rendering.rendered import CutKind, Rendered
from bestofn.rendering.tokens import tokenizer
from bestofn.rendering.transcript import render
from bestofn.trajectory import Actor, Command, Coverage, EndingState, Label, Observation, Step, Trajectory

KEY = "sk-" + "proj-" + "x8Zr2bXn4cQ1VdT7q9LkWm3Yt5HsMIIEowIBAAKC"

WORDS = st.sampled_from(
    ["word ", "\n", "    ", "日本", "😀", "[bakitoru cut: 5 characters]", "</score_A>", "<|im_end|>", "=" * 90,
     "\u200b", "x" * 300]
)  # fmt: skip
OUTPUTS = st.lists(WORDS, max_size=120).map("".join)
STEPS = st.builds(
    acted, st.sampled_from(["ls", "cat > a.py <<'E'\nprint(1)\nE", "pytest -q " * 30]), OUTPUTS, message=OUTPUTS,
    code=st.sampled_from([None, 0, 1]),
)  # fmt: skip
RUNS = st.lists(STEPS, max_size=25).map(run)


def ours(rendered: Rendered) -> list[str]:
    """The lines that the program wrote."""
    return [line for line in rendered.text.split("\n") if line.startswith(f"[{rendered.nonce} ")]


@given(RUNS, st.integers(600, 4000))
@settings(deadline=None, max_examples=60)
def test_the_budget_is_never_exceeded_and_the_count_is_exact(trajectory: Trajectory, budget: int) -> None:
    """Whatever a run holds, the text takes at most the budget, and `tokens` is the count of the whole text."""
    rendered = render(trajectory, budget)
    assert rendered.tokens == tokenizer().count(rendered.text) <= budget
    pieces = rendered.legend + rendered.task + "".join(rendered.runs)
    assert tokenizer().count(pieces) <= rendered.tokens


@given(RUNS, st.integers(600, 3000), st.integers(1, 2000))
@settings(deadline=None, max_examples=40)
def test_more_room_never_shows_less(trajectory: Trajectory, budget: int, more: int) -> None:
    """A greater budget shows at least as many characters of the run."""
    assert render(trajectory, budget + more).shown_characters >= render(trajectory, budget).shown_characters


@given(RUNS, st.integers(600, 3000))
@settings(deadline=None, max_examples=60)
def test_the_fence_holds(trajectory: Trajectory, budget: int) -> None:
    """The record opens and closes once, and every line of ours is one that a run of this shape has."""
    rendered = render(trajectory, budget)
    word = rendered.nonce
    assert rendered.text.count(f"[{word} ===== record begins =====]") == 1
    assert rendered.text.endswith(f"[{word} ===== record ends =====]\n")
    assert rendered.text.count(f"[{word} ===== record ends =====]") == 2  # once named in the preface
    known = re.compile(
        rf"\[{word} (?:preface\] |legend\] |task\] |cut: |note: the run ended|===== record (?:begins|ends) =====\]$"
        rf"|step \d+\] (?:agent says|agent runs \(bash\)|output(?:, exit code [01])?): ?(?:\(empty\))?$)"
    )
    assert all(known.match(line) for line in ours(rendered)), ours(rendered)


def test_the_same_run_gives_the_same_text() -> None:
    """Rendering is deterministic, and neither label, digest nor id of the run changes a character."""
    trajectory = long_run(60)
    other = replace(trajectory, label=Label.from_reward(0.0), digest="other", id="other", task="other")
    assert render(trajectory, 2000) == render(trajectory, 2000) == render(other, 2000)


def test_nothing_beside_the_texts_of_a_run_is_shown() -> None:
    """Label, reason of the ending, path, digest, id and a reader's note never reach the prompt."""
    step = acted("ls", "a")._replace(note="NOTE-7781")
    text = render(run([step], name="ID-7781"), 5000).text
    assert "7781" not in text
    assert "the run ended by itself" in text


def test_a_run_that_fits_is_shown_whole() -> None:
    """Without need nothing is cut, and every text stands under its own line, in order."""
    rendered = render(run([acted("ls", "data.txt", message="First I look.", code=0), said("Done.")]), 3000)
    n = rendered.nonce
    assert rendered.cuts == ()
    assert rendered.text.split(f"[{n} ===== record begins =====]\n")[-1] == (
        f"[{n} task] the task as the agent was given it:\nWrite the sum of the numbers in data.txt to out.txt.\n"
        f"[{n} step 1] agent says:\nFirst I look.\n[{n} step 1] agent runs (bash):\nls\n"
        f"[{n} step 1] output, exit code 0:\ndata.txt\n[{n} step 2] agent says:\nDone.\n"
        f"[{n} note: the run ended by itself, the agent declared it finished]\n[{n} ===== record ends =====]\n"
    )


@pytest.mark.parametrize("budget", [1000, 2000, 8000])
def test_a_long_run_keeps_task_beginning_and_end_and_fills_the_budget(budget: int) -> None:
    """Of 300 turns the task, the first and the last stay, the middle is one mark, and 90% of the room is used."""
    rendered = render(long_run(300), budget)
    assert "Write the sum of the numbers" in rendered.task
    assert "Turn 0 begins." in rendered.text
    assert rendered.text.rstrip().split("\n")[-3] == "All done: the sum is 42."
    assert "line of turn 299" in rendered.text
    assert [cut.kind for cut in rendered.cuts].count(CutKind.DROPPED) == 1
    assert rendered.tokens >= 0.9 * budget


def test_what_is_shown_and_what_is_cut_add_up() -> None:
    """Characters of the run that stand in the text, counted there, and those in the marks are all there were."""
    # No line of ours holds a Greek letter, so what is shown can be counted.
    steps = [acted("λ" * (50 + n), "ω " * (400 + 13 * n) + "ω") for n in range(120)]
    rendered = render(run(steps, instruction="Σ"), 3000)
    whole = sum(50 + n + 2 * (400 + 13 * n) + 1 for n in range(120)) + 1
    assert rendered.characters == whole
    recorded = "\n".join(line for line in rendered.text.split("\n") if not line.startswith("["))
    marked = sum(
        int(number.replace(",", ""))
        for number in re.findall(rf"\[{rendered.nonce} cut:.*? ([\d,]+) characters", rendered.text)
    )
    shown = len(re.findall("[λωΣ ]", recorded))
    legend = len(
        re.findall("[λωΣ ]", "\n".join(line for line in rendered.legend.split("\n") if not line.startswith("[")))
    )
    assert marked == rendered.cut_characters
    assert shown - legend + marked == whole


def test_dropped_steps_are_named_and_counted() -> None:
    """The mark of dropped steps says which they are and how many characters went with them."""
    rendered = render(long_run(100), 1500)
    cut = next(cut for cut in rendered.cuts if cut.kind is CutKind.DROPPED)
    mark = re.search(r"cut: (?:texts of )?(\d+) steps \((\d+) to (\d+)\), ([\d,]+) characters\]", rendered.text)
    assert mark is not None
    assert int(mark[1]) == int(mark[3]) - int(mark[2]) + 1 == cut.steps
    assert int(mark[4].replace(",", "")) == cut.characters
    for number in range(int(mark[2]) + 1, int(mark[3])):
        assert f"step {number}]" not in rendered.text


@given(st.integers(0, 3000), st.integers(700, 2500))
@settings(deadline=None, max_examples=60)
def test_no_part_of_a_secret_is_left_wherever_the_cut_falls(offset: int, budget: int) -> None:
    """A secret that would straddle a cut is gone whole: it was taken out before anything was cut."""
    filler = "some words of output 123\n" * 400
    rendered = render(run([acted("env", filler[:offset] + f"KEY {KEY} KEY" + filler[offset:])]), budget)
    assert not any(KEY[start : start + 8] in rendered.text for start in range(7, len(KEY) - 8))
    assert rendered.redactions == {"openai-key": 1}


def test_secrets_are_taken_out_of_every_channel_and_counted() -> None:
    """Task, message, command, output, tool name and reasoning lose the same secret to the same placeholder."""
    step = Step(
        Actor.AGENT,
        f"I use {KEY}",
        f"think {KEY}",
        (Command(f"export K={KEY}", f"bash {KEY}"),),
        (Observation(KEY, 0),),
    )
    rendered = render(run([step], instruction=f"Use {KEY}"), 4000, reasoning=True)
    assert KEY not in rendered.text
    assert rendered.text.count("[REDACTED:openai-key#1]") >= 5
    assert rendered.redactions["openai-key"] == 6


def test_redaction_can_be_turned_off() -> None:
    """Where the judge is at home, the text may keep its secrets; nothing is counted then."""
    rendered = render(run([acted("env", KEY)]), 2000, redact=False)
    assert KEY in rendered.text
    assert rendered.redactions == {}


def test_a_secret_split_by_hidden_characters_is_found() -> None:
    """Characters without width do not hide a key from redaction."""
    rendered = render(run([acted("env", KEY[:20] + "\u200b" + KEY[20:])]), 2000)
    assert KEY[:20] not in rendered.text
    assert rendered.redactions == {"openai-key": 1}


def test_base64_is_named_and_not_shown() -> None:
    """Base64 in an output leaves its length alone, and its length counts as cut."""
    import base64
    import random

    blob = base64.b64encode(random.Random(3).randbytes(6000)).decode()
    rendered = render(run([acted("base64 a.png", blob)]), 2000)
    assert "cut: 8,000 characters of base64]" in rendered.text
    assert blob[:40] not in rendered.text
    assert rendered.cut_characters == 8000
    assert rendered.tokens < 600


def test_reasoning_is_left_out_unless_asked_for() -> None:
    """By default a note says how much thinking is left out; on demand it is shown under its own title."""
    trajectory = run([Step(Actor.AGENT, "Done.", "I guess so.")])
    rendered = render(trajectory, 2000)
    assert "I guess so." not in rendered.text
    assert "what the agent thought to itself is left out: 11 characters]" in rendered.text
    assert rendered.cut_characters == 11
    shown = render(trajectory, 2000, reasoning=True)
    assert f"[{shown.nonce} step 1] agent thinks:\nI guess so.\n" in shown.text
    assert shown.cut_characters == 0


def test_what_the_recording_cannot_tell_is_said() -> None:
    """Missing channels, cut recordings and unknown endings are told; an absent exit code is not called 0."""
    coverage = Coverage(messages=False, observations=False, whole_texts=False)
    trajectory = run(
        [Step(Actor.AGENT, commands=(Command("ls", "bash"),))], coverage=coverage, state=EndingState.UNKNOWN
    )
    text = render(trajectory, 2000).text
    assert "note: the recording itself holds only the beginnings of texts]" in text
    assert "note: the recording holds no messages of the agent]" in text
    assert "note: the recording holds no outputs]" in text
    assert "exit code" not in text
    assert "the run" not in text.rsplit("agent runs", 1)[1].split("=====")[0]


def test_missing_and_partial_outputs_are_told_apart() -> None:
    """A command without a result, an empty result and one that the recording cut are three different things."""
    step = Step(
        Actor.AGENT,
        commands=(Command("a", "bash"), Command("b", "bash"), Command("c", "bash")),
        observations=(Observation("", 1, 0), Observation("half", 2, cut=True)),
    )
    rendered = render(run([step]), 2000)
    n = rendered.nonce
    assert (
        f"[{n} step 1] agent runs (bash): no output recorded\na\n[{n} step 1] agent runs (bash):\nb\n" in rendered.text
    )
    assert f"[{n} step 1] output, exit code 0: (empty)\n" in rendered.text
    assert f"[{n} step 1] output: the recording holds only part of it\nhalf\n" in rendered.text


def test_a_message_that_only_repeats_its_command_is_not_shown_twice() -> None:
    """`Execute [sh] ls` above `ls` adds nothing; a message that says more stays."""
    text = render(run([acted("ls -la", "x", message="Execute [sh] ls -la")]), 2000).text
    assert text.count("ls -la") == 1
    assert "Now I look" in render(run([acted("ls", "x", message="Now I look around in there:\nls")]), 2000).text


def test_the_task_is_shown_once() -> None:
    """A first message that is the task itself is not repeated, and without a task the first user message is it."""
    opening = Step(Actor.USER, "Write the sum of the numbers in data.txt to out.txt.\n")
    text = render(run([opening, said("Done.")]), 2000).text
    assert text.count("Write the sum of the numbers") == 1
    bare = render(run([opening, said("Done.")], instruction=""), 2000)
    assert bare.task.endswith("Write the sum of the numbers in data.txt to out.txt.\n")
    assert "does not hold the task" in render(run([said("Done.")], instruction=""), 2000).task


def test_a_long_task_takes_less_than_half_the_budget() -> None:
    """A task that does not fit is cut with a mark, and leaves room for the run."""
    rendered = render(replace(long_run(50), instruction="requirement " * 5000), 2000)
    assert tokenizer().count(rendered.task) <= 0.45 * 2000
    assert any(cut.where == "task" and cut.kind is CutKind.MIDDLE for cut in rendered.cuts)
    assert "All done: the sum is 42." in rendered.text


def test_calls_show_their_arguments_as_text() -> None:
    """A tool call shows one argument a line and texts of several lines as they are."""
    call = Command('{"path": "a.py"}', "edit_file", {"path": "a.py", "text": "x = 1\ny = 2", "line": 3})
    text = render(run([Step(Actor.AGENT, commands=(call,))]), 2000).text
    assert "agent calls edit_file: no output recorded\npath: a.py\ntext:\nx = 1\ny = 2\nline: 3\n" in text


def test_several_agents_are_named_in_plain_characters() -> None:
    """A speaker's name stands in the head line, cut to characters that cannot act."""
    step = Step(Actor.AGENT, "Hi", name="planner]\n[x step 9] output:")
    assert "] agent planner_x_step_9_output: says:\nHi\n" in render(run([step]), 2000).text


def test_a_key_changes_the_nonce() -> None:
    """A caller's key makes another nonce of the same run."""
    trajectory = run([said("Done.")])
    assert render(trajectory, 2000).nonce != render(trajectory, 2000, key=b"k").nonce


def test_a_budget_too_small_for_the_frame_is_an_error() -> None:
    """Where not even the frame fits, the error names what it takes and what to give."""
    with pytest.raises(UsageError, match=r"a budget of 100 tokens does not hold the frame .* give at least \d+"):
        render(run([said("Done.")]), 100)


def test_an_empty_run_is_a_frame() -> None:
    """A recording without any turn gives its task and notes, and nothing is made up."""
    rendered = render(run([]), 1000)
    assert rendered.runs == (f"[{rendered.nonce} note: the run ended by itself, the agent declared it finished]\n",)


@pytest.mark.parametrize(
    "text", ["a" * 10**6, " " * 10**6 + "x", "=" * 10**6, "<" * 10**6, "\u202ea" * 300_000, "é\n" * 500_000]
)
def test_a_megabyte_in_one_output_is_rendered(text: str) -> None:
    """One huge output of one kind of character fits the budget like any other."""
    rendered = render(run([acted("ls", "small"), acted("cat big", text), said("Done.")]), 2000)
    assert rendered.tokens <= 2000
    assert rendered.text.rstrip().split("\n")[-3] == "Done."


def test_a_hundred_thousand_steps_are_rendered() -> None:
    """A run of 100,000 turns is cut to its ends, and its one mark counts the rest."""
    rendered = render(long_run(100_000, size=1), 4000)
    assert rendered.tokens >= 0.9 * 4000
    assert [cut.kind for cut in rendered.cuts if cut.steps] == [CutKind.DROPPED]
    assert rendered.cuts[0].steps > 99_000


def test_ten_thousand_commands_in_one_step_are_cut_like_steps() -> None:
    """One step with thousands of commands still shows its last ones."""
    step = Step(
        Actor.AGENT,
        commands=tuple(Command(f"run {n}", "bash") for n in range(10_000)),
        observations=tuple(Observation(f"result {n}", n) for n in range(10_000)),
    )
    text = render(run([step]), 2000).text
    assert "result 9999" in text
    assert "cut: texts of step 1, " in text
