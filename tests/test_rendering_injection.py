"""The hostile texts that ship, and what becomes of them in a prompt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from runs import acted, run, said

from bestofn.errors import ContentError
from bestofn.llm.answer import Completion
from bestofn.llm.letters import read_score
from bestofn.rendering.attempts import View, side_by_side
from bestofn.rendering.final_state import final_state
from bestofn.rendering.injection import Attack, Where, inject, load_attacks, read_attacks
from bestofn.rendering.transcript import render
from bestofn.trajectory import Step, Trajectory

ATTACKS = load_attacks()
CASES = [(attack, where) for attack in ATTACKS for where in attack.where]
CLASSES = {"self_praise", "fake_score", "fake_checker", "closing", "instruction", "hidden", "truncation"}


def clean() -> Trajectory:
    """A run with every place that an attack may take."""
    return run([acted("ls", "data.txt"), acted("cat data.txt", "1 2 3"), acted("pytest", "failed"), said("Done.")])


def test_the_set_covers_its_classes_and_languages() -> None:
    """At least 25 attacks with names of their own, in all classes, in several languages, in all places."""
    assert len(ATTACKS) >= 25
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.kind for attack in ATTACKS} == CLASSES
    assert {"en", "de", "zh", "ar"} <= {attack.language for attack in ATTACKS}
    assert {where for attack in ATTACKS for where in attack.where} == set(Where)
    assert all(attack.hope and attack.text.strip() for attack in ATTACKS)


@pytest.mark.parametrize(("attack", "where"), CASES, ids=[f"{a.name}-{w}" for a, w in CASES])
def test_no_attack_acts_on_the_prompt_itself(attack: Attack, where: Where) -> None:
    """Even with the nonce of the clean prompt, no attack closes the record, forges a line or leaves a live tag."""
    known = render(clean(), 3000).nonce
    planted = inject(clean(), attack, where, nonce=known)
    for rendered in (
        render(planted, 3000),
        final_state(planted, 3000),
        side_by_side([clean(), planted], 5000, view=View.FINAL),
    ):
        assert rendered.nonce != known
        recorded = rendered.task + "".join(rendered.runs)
        others = recorded.replace(f"[{rendered.nonce} ", "")
        assert not re.search(r"\[[A-Za-z0-9]{3,16}\s+(?:=+ )?(?:record|step|cut|note)\b", others)
        for tag in re.findall(r"<\s*([A-Za-z][A-Za-z0-9_-]*)\s*>", attack.text):
            answer = Completion(content=recorded, finish_reason="stop")
            assert read_score(answer, tag).letter == "" or tag in ("output", "html")
        for token in ("<|im_start|>", "<|im_end|>", "[/INST]", "<end_of_turn>", "<|eot_id|>", "\uff5c>", "</s>"):
            assert token not in recorded
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\U000e0000-\U000e01ef]", recorded)


@pytest.mark.parametrize("where", list(Where))
def test_an_attack_stands_in_its_place_and_nothing_else_changes(where: Where) -> None:
    """A planted run differs from the clean one in one step, keeps its label and id, and has no digest."""
    attack = Attack("x", "instruction", "hope", (where,), "PLANTED {nonce}")
    planted = inject(clean(), attack, where, nonce="zuzuzuzu")
    changed = [(a, b) for a, b in zip(clean().steps, planted.steps, strict=True) if a != b]
    assert len(changed) == 1
    assert _texts(changed[0][1])[where] != _texts(changed[0][0])[where]
    assert "PLANTED zuzuzuzu" in _texts(changed[0][1])[where]
    assert (planted.id, planted.label, planted.digest) == (clean().id, clean().label, "")


@pytest.mark.parametrize("where", list(Where))
def test_a_run_without_the_place_gets_a_step_for_it(where: Where) -> None:
    """In an empty run the attack makes a step of its own."""
    attack = Attack("x", "instruction", "hope", (where,), "PLANTED")
    (step,) = inject(run([]), attack, where).steps
    assert "PLANTED" in _texts(step)[where]


def _texts(step: Step) -> dict[Where, str]:
    outputs = "".join(observation.text for observation in step.observations)
    return {
        Where.MESSAGE: step.message,
        Where.OUTPUT: outputs,
        Where.MIDDLE: outputs,
        Where.COMMAND: "".join(command.text for command in step.commands),
    }


def test_a_file_that_does_not_hold_to_the_schema_is_named(tmp_path: Path) -> None:
    """Unknown keys and places are errors that list what there is."""
    file = tmp_path / "odd.toml"
    file.write_text("[[attack]]\nname='a'\nhope='b'\nwhere=['output']\ntext='c'\ncolour='red'\n")
    with pytest.raises(
        ContentError, match=r"odd\.toml, attack 1 'a': has the keys colour, hope, .* an attack has hope"
    ):
        list(read_attacks(file))
    file.write_text("[[attack]]\nname='a'\nhope='b'\nwhere=['sky']\ntext='c'\n")
    with pytest.raises(ContentError, match="places are message, output, middle, command"):
        list(read_attacks(file))
