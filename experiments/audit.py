"""Is a taxonomy better left in the judge's context, or gone through code by code before the letter?

python experiments/audit.py --pool POOL --model MODEL --answer-tokens 2000
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Setting
from bestofn.ablation.answers import ask, compare_variants
from bestofn.ablation.second import outcomes
from bestofn.ablation.variant import OWN, WRITE, Variant, criteria_of, made, own, unprosecuted, write
from bestofn.ablation.wording import PROSECUTOR, lists_of, preamble_of, text_of, with_lists
from bestofn.criteria import load

BASE = "audit"
"""The built-in criteria whose words force the audit."""
LINE_TOKENS = 25
"""Tokens that an entry's line takes, about."""


def variants(setting: Setting) -> list[Variant]:
    """The judge's criteria, and the same with prosecutors that make the model go through their lists."""
    criteria = criteria_of(setting)[0]
    text, named = text_of(criteria), criteria.about.get("taxonomy", "unnamed")
    title = f"{criteria.title}, audited code by code"
    audited = with_lists(text_of(load(BASE)), lists_of(text), title=title, taxonomy=named, preamble=preamble_of(text))
    return [
        own(setting, "the codes stand in context"),
        made("audit", "every code gone through before the letter", [audited], also=unprosecuted(setting)),
    ]


def run(setting: Setting) -> Iterator[Piece]:
    """The codes in context and audited, the other questions the same; what each says of outcomes by itself."""
    every = variants(setting)
    yield from write(every, setting)
    for subject in setting.subjects:
        answers = ask(setting, subject, every)
        yield from compare_variants(setting, subject, answers, every)
        yield outcomes(subject, every, answers, "what the prosecutors alone say of outcomes", stem=PROSECUTOR)
    longest = max(map(len, lists_of(text_of(criteria_of(setting)[0])).values())) * LINE_TOKENS
    if setting.judge is not None and setting.judge.showing.answer_tokens < longest:
        yield (
            f"an audit takes about {longest} tokens of answer, and {setting.judge.showing.answer_tokens} are allowed "
            "(--answer-tokens): answers that were cut off are missing"
        )
    yield (
        "with --hold-form the model cannot write the audit out: then the two arms differ by the wording of the "
        "question alone"
    )


EXPERIMENT = Experiment(
    name="audit",
    question="Is a taxonomy better left in the judge's context, or gone through code by code before the letter?",
    source="AdaMAST, section E.2, as far as it concerns judging",
    reference=OWN,
    run=run,
    inputs={"write": WRITE},
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
