"""What a run left behind, as a judge reads it."""

from __future__ import annotations

import pytest
from runs import acted, run, said

from bestofn.rendering.entries import entries
from bestofn.rendering.final_state import final_state, written
from bestofn.rendering.words import load_words
from bestofn.trajectory import Actor, Command, Observation, Step, Trajectory


def worked() -> Trajectory:
    """A run that writes a file twice, mends it, checks it long before its end, and ends in chatter."""
    looking = [acted(f"ls dir{n}", f"entry {n} " * 30) for n in range(30)]
    return run(
        [
            acted("cat > sum.py <<'E'\nprint('FIRST VERSION')\nE", ""),
            acted("cat > sum.py <<'E'\nprint('SECOND VERSION')\nE", ""),
            acted("sed -i 's/SECOND/THIRD/' sum.py", ""),
            Step(
                Actor.AGENT,
                commands=(Command("{}", "write_file", {"path": "out.txt", "content": "42 IS THE SUM"}),),
            ),
            acted("pytest -q test_sum.py", "1 passed EARLY CHECK", code=0),
            *looking,
            said("The sum is in out.txt. FINAL WORDS"),
            *[acted(f"ls end{n}", "") for n in range(4)],
        ]
    )


def test_writes_checks_last_steps_and_final_words_are_shown() -> None:
    """Of each file the last whole version and the later changes, the last check, the last steps, the last words."""
    text = final_state(worked(), 1500).text
    assert "FIRST VERSION" not in text
    assert "SECOND VERSION" in text
    assert "s/SECOND/THIRD/" in text
    assert "42 IS THE SUM" in text
    assert "1 passed EARLY CHECK" in text
    assert "FINAL WORDS" in text
    assert "ls end3" in text
    assert "shown is what the run left behind" in text


def test_what_is_left_out_is_marked_and_counted() -> None:
    """Every row of texts left out has its mark, and the cuts add up with what is shown."""
    rendered = final_state(worked(), 1200)
    assert rendered.tokens <= 1200
    dropped = [cut for cut in rendered.cuts if cut.steps]
    assert len(dropped) >= 2
    assert rendered.text.count(f"[{rendered.nonce} cut: ") >= len(dropped)
    assert rendered.shown_characters > 0


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (Command("cat > a.py <<'E'\nx\nE", "bash"), ("a.py", True)),
        (Command("cat <<EOF > b/c.txt\nx\nEOF", "bash"), ("b/c.txt", True)),
        (Command("tee conf.ini <<EOF\nx\nEOF", "bash"), ("conf.ini", True)),
        (Command("cat >> log.md <<E\nx\nE", "bash"), ("log.md", False)),
        (Command("sed -i 's/a/b/' src/main.c", "bash"), ("src/main.c", False)),
        (Command("echo 42 > out.txt", "bash"), ("out.txt", True)),
        (Command("make 2>/dev/null >/tmp/x", "bash"), ("", False)),
        (Command("mv a b", "bash"), ("", False)),
        (Command("{}", "write_file", {"path": "a.py", "content": "x"}), ("a.py", True)),
        (Command("{}", "str_replace", {"file_path": "a.py", "new_str": "x"}), ("a.py", False)),
    ],
)
def test_the_file_that_a_command_writes_is_told(command: Command, expected: tuple[str, bool]) -> None:
    """Shell lines and tool calls tell which file they write and whether they write it whole."""
    found, _ = entries(run([Step(Actor.AGENT, commands=(command,))]), load_words())
    assert written(found[0]) == expected


def test_a_short_run_is_shown_whole() -> None:
    """Where all of a run is its end, nothing is cut."""
    assert final_state(run([acted("ls", "a"), said("Done.")]), 2000).cuts == ()


def test_a_run_of_words_alone_has_a_final_state() -> None:
    """A dialogue without commands shows its last turns."""
    steps = [Step(Actor.USER if n % 2 else Actor.AGENT, f"turn {n} " * 20) for n in range(200)]
    text = final_state(run(steps), 1500).text
    assert "turn 199" in text
    assert "turn 0 " not in text


def test_a_huge_run_has_a_final_state() -> None:
    """The end of 100,000 turns is found without classifying all of them."""
    step = Step(Actor.AGENT, commands=(Command("pytest", "bash"),), observations=(Observation("1 passed", 0),))
    assert "1 passed" in final_state(run([step] * 100_000), 1500).text
