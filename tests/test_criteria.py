"""Criteria files: what is read from them, and what is wrong with a file that is not sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestofn import criteria
from bestofn.criterion import Kind, Sees
from bestofn.errors import ContentError

HEAD = "# Tiny set\n\nWords for the reader.\n\n- taxonomy: tiny 0123456789ab\n- compiled by: bestofn 0.1.0\n\n"
PREAMBLE = "## preamble\n\nJudge. {{fence}}\n{{instruction}}\n{{trajectory}}\n\n"
ANSWER = "## answer_pointwise\n\nWrite <{{tag}}>X</{{tag}}>\n"
QUESTION = "## llm_task\n\n- kind: pointwise\n- sees: whole\n\nDone?\n\n- really?\n\n{{answer_format}}\n\n"
SOUND = HEAD + PREAMBLE + QUESTION + ANSWER


def write(folder: Path, text: str) -> Path:
    path = folder / "tiny.md"
    path.write_bytes(text.encode())
    return path


def test_a_sound_file_is_read(tmp_path: Path) -> None:
    """Title, keys, parts and criteria come out; a list inside a question is no key."""
    read = criteria.load(write(tmp_path, SOUND))
    assert (read.name, read.title) == ("tiny", "Tiny set")
    assert read.about == {"taxonomy": "tiny 0123456789ab", "compiled by": "bestofn 0.1.0"}
    (one,) = read.criteria
    assert (one.name, one.kind, one.sees) == ("llm_task", Kind.POINTWISE, Sees.WHOLE)
    assert one.preamble == "Judge. {{fence}}\n{{instruction}}\n{{trajectory}}"
    assert one.question == "Done?\n\n- really?\n\nWrite <{{tag}}>X</{{tag}}>"
    assert criteria.problems(tmp_path / "tiny.md") == []


def test_line_ends_and_outer_empty_lines_are_no_change(tmp_path: Path) -> None:
    """Windows line ends, a byte order mark and more empty lines around a text leave its identity alone."""
    first = criteria.load(write(tmp_path, SOUND))
    loose = "\ufeff" + SOUND.replace("\n\n## ", "\n\n\n\n## ").replace("\n", "\r\n")
    second = criteria.load(write(tmp_path, loose))
    assert second.criteria == first.criteria
    assert second.hash != first.hash


def test_a_word_changes_the_identity_and_the_header_does_not(tmp_path: Path) -> None:
    """Only what a model is shown makes a criterion another one."""
    first = criteria.load(write(tmp_path, SOUND)).criteria[0].identity
    assert criteria.load(write(tmp_path, SOUND.replace("Words for", "Lines for"))).criteria[0].identity == first
    for old, new in (("Judge.", "Judge!"), ("really?", "truly?"), ("Write <", "Put <"), ("sees: whole", "sees: end")):
        assert criteria.load(write(tmp_path, SOUND.replace(old, new))).criteria[0].identity != first


def test_criteria_are_found_by_kind_name_and_column(tmp_path: Path) -> None:
    """A column of an older wording is not found, and the error shows the current ones."""
    read = criteria.load(write(tmp_path, SOUND))
    assert read.of(Kind.POINTWISE) == read.criteria
    assert read.of(Kind.LISTWISE) == ()
    column = read.criteria[0].column
    assert read.criterion("llm_task") is read.criterion(column) is read.criteria[0]
    with pytest.raises(ContentError) as caught:
        read.criterion("llm_task@00000000")
    assert str(caught.value) == f"{read.path} has no criterion 'llm_task@00000000': there are {column}"


PARTS = ", ".join(criteria.PARTS)
BROKEN = [
    (SOUND.replace("# Tiny set", "Tiny set"), [": begins without a title: write '# ' and a name in its first line"]),
    (
        SOUND.replace("- taxonomy:", "- taxonomie:"),
        [": unknown key 'taxonomie' above the first heading; there are taxonomy, compiled by"],
    ),
    (
        HEAD + PREAMBLE + ANSWER,
        [": asks nothing: write at least one criterion under a heading such as '## llm_health_task'"],
    ),
    (
        SOUND.replace("## llm_task", "## task"),
        [
            ", line 14, 'task': is neither a criterion, whose name is llm_ and lower-case letters, digits or _, nor "
            f"one of the shared parts {PARTS}"
        ],
    ),
    (
        SOUND.replace("- kind: pointwise\n", ""),
        [
            ", line 14, 'llm_task': `kind` is missing; write '- kind: pointwise' under the heading, or pairwise or "
            "listwise"
        ],
    ),
    (
        SOUND.replace("kind: pointwise", "kind: single"),
        [", line 14, 'llm_task': `kind` is 'single'; it must be one of pointwise, pairwise, listwise"],
    ),
    (
        SOUND.replace("- sees: whole\n", "- sees: whole\n- sees: end\n- weight: 2\n"),
        [
            ", line 14, 'llm_task': unknown key 'weight'; a criterion has kind, sees",
            ", line 14, 'llm_task': `sees` stands twice",
        ],
    ),
    (
        SOUND.replace("kind: pointwise", "kind: listwise"),
        [
            f", line 14, 'llm_task': is listwise, which takes a part '## {part}', and this file has none"
            for part in ("preamble_attempts", "attempt", "answer_listwise")
        ],
    ),
    (
        SOUND.replace("Done?", "{{reward}} {{gold}}?"),
        [", line 14, 'llm_task': uses {{reward}}, {{gold}}, unknown here; it may use {{answer_format}}"],
    ),
    (
        SOUND.replace("{{trajectory}}", "").replace("{{fence}}", ""),
        [", line 8, 'preamble': never shows {{fence}}, {{trajectory}}"],
    ),
    (
        SOUND.replace("\n{{answer_format}}\n", "\n"),
        [", line 14, 'llm_task': never shows {{answer_format}}"],
    ),
    (
        SOUND.replace("Done?", "Is {{ instruction }} done?"),
        [
            ", line 14, 'llm_task': has double braces that are no variable; write {{name}} in lower-case letters, "
            "or put a space between"
        ],
    ),
    (
        SOUND.replace("<{{tag}}>X", "{{tag}} X"),
        [
            ", line 25, 'answer_pointwise': must show the answer as <{{tag}}>X</{{tag}}>, since the letter is "
            "looked for behind <{{tag}}>"
        ],
    ),
    (SOUND + QUESTION, [", line 28, 'llm_task': stands already in line 14; give one of them another name"]),
    (SOUND.replace("Write <{{tag}}>X</{{tag}}>", ""), [", line 25, 'answer_pointwise': has no text"]),
]


@pytest.mark.parametrize(("text", "messages"), BROKEN)
def test_every_problem_names_line_and_heading(tmp_path: Path, text: str, messages: list[str]) -> None:
    """What is wrong is said with file, line, heading and a way out, by `problems` and by `load` alike."""
    path = write(tmp_path, text)
    expected = [f"{path}{message}" for message in messages]
    assert criteria.problems(path) == expected
    with pytest.raises(ContentError) as caught:
        criteria.load(path)
    assert str(caught.value) == "\n".join(expected)


def test_a_file_that_is_not_utf8_is_named_with_its_byte(tmp_path: Path) -> None:
    """Latin-1 is not guessed at."""
    path = tmp_path / "tiny.md"
    path.write_bytes(b"# caf\xe9\n")
    assert criteria.problems(path) == [f"{path}: not UTF-8 at byte 5: save it as UTF-8"]


def test_an_empty_file_is_told_what_it_lacks(tmp_path: Path) -> None:
    """Nothing at all is two problems, not a crash."""
    path = write(tmp_path, "")
    assert len(criteria.problems(path)) == 2


def test_an_unknown_name_lists_the_built_in_ones() -> None:
    """A misspelt name shows what there is, without the README."""
    with pytest.raises(ContentError, match=r"no criteria file 'terminl': .*built in are audit, base, .*terminal.*;"):
        criteria.load("terminl")
