"""Is it the taxonomy, or would a prose summary or raw excerpts of the same length in tokens do as well?

python experiments/token_matched.py --pool demo
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Setting, Sheet
from bestofn.ablation.answers import ask, compare_variants
from bestofn.ablation.context import BUDGETS, KINDS, NOTHING, nothing, variant
from bestofn.ablation.second import outcomes
from bestofn.ablation.variant import ARMS, WRITE, own, write


def run(setting: Setting) -> Iterator[Piece]:
    """One question with each kind of text at each length, all else the same questions."""
    for subject in setting.subjects:
        sized = [(kind, budget, *variant(setting, subject, kind, budget)) for kind in KINDS for budget in BUDGETS]
        every = [nothing(setting), own(setting, "three prosecutors with all codes"), *(one for *_, one, _ in sized)]
        yield from write(every, setting, subject.name)
        answers = ask(setting, subject, every)
        yield from compare_variants(setting, subject, answers, every, reference=NOTHING)
        yield outcomes(subject, every, answers)
        yield Sheet(
            f"{subject.name}: length of the texts",
            ("text", "budget", "tokens", "what"),
            tuple((kind, budget, tokens or None, KINDS[kind]) for kind, budget, _, tokens in sized),
            "counted exactly, in cl100k_base, as the text stands in the prompt, its margin included; a text that is "
            "shorter than its budget is all there is of it. Excerpts come in two halves of the tasks, each shown to "
            "the judge of the other half",
        )


EXPERIMENT = Experiment(
    name="token_matched",
    question="Is it the taxonomy, or would a prose summary or raw excerpts of the same length in tokens do as well?",
    source="AdaMAST, Table 18",
    run=run,
    inputs={
        "arms": ARMS,
        "write": WRITE,
        "context": "a file with a prose summary, or JSON with `prose` and `excerpts`, in place of ours",
        "taxonomy": "the taxonomy whose codes are the text, a name or a file; by default that of the criteria",
    },
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
