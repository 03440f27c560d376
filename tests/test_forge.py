"""ForgeCode's console log as steps: tools, thoughts, words and marks told apart."""

from __future__ import annotations

import pytest

from bestofn.readers import forge
from bestofn.trajectory import Actor, Command, EndingState, Observation, Step

ID = "f1355b26-5f5d-43aa-90d1-6d1e84ca1797"
THOUGHT = "Checking the build\n\nI need to see whether it compiles. I\u2019ll run it."
NEXT = "Fixing the build\n\nI think the header is missing."


def rewritten(*messages: str) -> list[Step]:
    return forge.rewritten([Step(Actor.AGENT, message) for message in messages])


def shell(line: str, output: str) -> Step:
    """A shell call after it was rewritten."""
    step = Step(Actor.AGENT, commands=(Command(line, forge.SHELL),), observations=(Observation(output, 0),))
    return forge.rewritten([step])[0]


@pytest.mark.parametrize(
    ("message", "tool", "text"),
    [
        ("Read a.c:1-90", "read", "a.c:1-90"),
        ("Search for 'x|y' in '*' files at .", "search", "'x|y' in '*' files at ."),
        ("GET https://example.org/a", "fetch", "https://example.org/a"),
        ("Create a.c", "write", "a.c"),
        ("Overwrite a.c\n1   |-old\n  1 |+new", "write", "a.c\n1   |-old\n  1 |+new"),
        ("Replace a.c\n9  9  | same\n10    |-old\n   10 |+new\n...\n20 21 | same", "patch",
         "a.c\n9  9  | same\n10    |-old\n   10 |+new\n...\n20 21 | same"),
        ("Multi-patch a.c (2 edits)", "multi_patch", "a.c (2 edits)"),
        ("Remove a.c", "rm", "a.c"),
        ("Skill verification-specialist", "skill", "verification-specialist"),
        ("EXPLORER [Agent] Look around.", "task", "Look around."),
        ("Update Todos\n[x] One\n[] Two", "todo", "[x] One\n[] Two"),
        ("Update Todos", "todo", ""),
    ],
)  # fmt: skip
def test_a_tool_line_is_a_command(message: str, tool: str, text: str) -> None:
    """Steps without a call name what a tool did; a shown difference belongs to the edit."""
    assert rewritten(message) == [Step(Actor.AGENT, commands=(Command(text, tool),))]


def test_thoughts_and_words_behind_a_tool_line_are_told_apart() -> None:
    """A titled paragraph in the first person is a thought, several may be glued together; the rest was said."""
    both = f"{THOUGHT}{NEXT}"
    [step] = rewritten(f"Read a.c\n{both}\nThe header is missing.\n\nI add it.")
    assert step == Step(Actor.AGENT, "The header is missing.\n\nI add it.", both, (Command("a.c", "read"),))
    [step] = rewritten("Replace a.c\n1   |-old\n  1 |+new\nThe edit is done.")
    assert (step.message, step.reasoning) == ("The edit is done.", "")


def test_a_message_with_a_heading_is_no_thought() -> None:
    """What is not in the first person, or has a title that is none, stays a message."""
    said = "Verifying steps\n\n1. build\n2. run"
    assert [step.message for step in rewritten(f"Read a.c\n{said}", "Read a.c\nDone.\n\nI wrote a.c.")] == [
        said,
        "Done.\n\nI wrote a.c.",
    ]


def test_words_glued_to_the_last_todo_are_the_message() -> None:
    """The log has no newline there: an item seen elsewhere, or the beginning of a sentence, tells where it ends."""
    first, second, third = rewritten(
        "Update Todos\n[] Build\n[ ] Verify Main.java output",
        "Update Todos\n[x] Build\n[x] Verify Main.java outputDone.\n\nAll is well.",
        "Update Todos\n[x] Build itI\u2019ll verify next.",
    )
    assert (first.commands[0].text, first.message) == ("[] Build\n[ ] Verify Main.java output", "")
    assert (second.commands[0].text, second.message) == (
        "[x] Build\n[x] Verify Main.java output",
        "Done.\n\nAll is well.",
    )
    assert (third.commands[0].text, third.message) == ("[x] Build it", "I\u2019ll verify next.")


def test_marks_of_the_harness_are_no_messages() -> None:
    """The beginning leaves nothing, or the thought behind it; the end mark is a note."""
    steps = rewritten(f"Initialize {ID}", f"Initialize {ID}\n{THOUGHT}", f"Finished {ID}")
    assert steps == [
        Step(Actor.AGENT, reasoning=THOUGHT),
        Step(Actor.SYSTEM, note=forge.FINISHED_NOTE),
    ]
    assert forge.ending_of(steps).state is EndingState.FINISHED


def test_without_the_end_mark_a_run_is_unfinished() -> None:
    """What the model's service said last is the reason; words like the mark are not the mark."""
    steps = rewritten("Read a.c", "ERROR: Invalid status code: 400")
    assert steps[1].observations == (Observation("ERROR: Invalid status code: 400"),)
    ending = forge.ending_of(steps)
    assert (ending.state, ending.reason) == (EndingState.UNFINISHED, "ERROR: Invalid status code: 400")
    assert forge.ending_of(rewritten("Finished the work.")).reason == "no end mark"
    assert forge.ending_of([]).state is EndingState.UNFINISHED


def test_a_here_document_goes_back_into_the_command() -> None:
    """The log shows the first line of a call and echoes the document before the output."""
    step = shell("python3 - <<'PY'", "print(1)\nPY\n1\n")
    assert (step.commands[0].text, step.observations[0].text) == ("python3 - <<'PY'\nprint(1)\nPY", "1\n")
    silent = shell("cat > a <<EOF", "x\nEOF")
    assert (silent.commands[0].text, silent.observations[0].text) == ("cat > a <<EOF\nx\nEOF", "")
    empty = shell("cat <<EOF", "EOF\nrest")
    assert (empty.commands[0].text, empty.observations[0].text) == ("cat <<EOF\nEOF", "rest")
    lost = shell("cat <<EOF", "no end of it")
    assert (lost.commands[0].text, lost.observations[0].text) == ("cat <<EOF", "no end of it")


def test_a_thought_behind_an_output_leaves_it() -> None:
    """Output, thought and message of one step go into their channels; without a thought all is output."""
    step = shell("make", f"ok\n{THOUGHT}\nIt compiles.")
    assert (step.observations[0].text, step.reasoning, step.message) == ("ok", THOUGHT, "It compiles.")
    assert shell("make", "ok\nIt compiles.").observations[0].text == "ok\nIt compiles."
    readme = "Installing the tool\n\nRun setup.py and wait."
    assert shell("cat README", readme).observations[0].text == readme


def test_no_character_is_lost() -> None:
    """All that the log held behind the line is in some channel, but for the newlines between them."""
    rest = f"{THOUGHT}{NEXT}\nDone.\n• a.c"
    step = shell("make", f"ok\n{rest}")
    parts = f"{step.observations[0].text}\n{step.reasoning}\n{step.message}"
    assert parts == f"ok\n{rest}"
