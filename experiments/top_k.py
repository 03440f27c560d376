"""How many codes does the judge need to be told of: one, five, ten, twenty, or all?

python experiments/top_k.py --pool demo
"""

from collections.abc import Iterator

from bestofn.ablation import Experiment, Piece, Setting, Sheet
from bestofn.ablation.answers import Answers, ask, compare_variants
from bestofn.ablation.proportion import first
from bestofn.ablation.variant import ARMS, WRITE, Variant, criteria_of, made, own, write
from bestofn.ablation.wording import lists_of, text_of, with_lists

SIZES = (1, 5, 10, 20)


def variants(setting: Setting) -> list[Variant]:
    """The judge's criteria, and the same with the first K codes of their lists."""
    [criteria, *also] = criteria_of(setting)
    text, taxonomy = text_of(criteria), criteria.about.get("taxonomy", "unnamed")
    lists = lists_of(text)
    total = sum(map(len, lists.values()))
    found = [own(setting, f"all {total} codes")]
    for k in (size for size in SIZES if size < total):
        kept = first(lists, k)
        title, shown = f"{criteria.title}, first {k} codes", ", ".join(f"{len(e)} {axis}" for axis, e in kept.items())
        changed = with_lists(text, kept, title=title, taxonomy=f"{taxonomy}, first {k} codes")
        found.append(made(f"K = {k}", f"the first {k} of {total} codes: {shown}", [changed], also=also))
    return found


def run(setting: Setting) -> Iterator[Piece]:
    """Fewer and fewer codes, all else the same questions; how often each criterion is chosen."""
    every = variants(setting)
    yield from write(every, setting)
    for subject in setting.subjects:
        answers = ask(setting, subject, every)
        yield from compare_variants(setting, subject, answers, every)
        yield chosen(subject.name, answers, every)
    yield (
        "K codes are shared among A, B and C by largest remainder: each axis gets the whole part of its share, what is "
        "left goes to the largest fractions, of equal ones to A before B before C; of each axis the first codes stay"
    )


def chosen(pool: str, answers: Answers, every: list[Variant]) -> Sheet:
    """Which features forward selection takes on all tasks, with each number of codes."""
    rows = []
    for variant in every:
        if variant.name not in answers.lacking:
            view = answers.view(variant.name)
            taken = view.fits((*view.heuristics, *view.llm)).forward.selector.columns
            rows.append((variant.name, ", ".join(name.partition("@")[0] for name in taken) or "none"))
    return Sheet(f"{pool}: features that forward selection takes on all tasks", ("arm", "features"), tuple(rows))


EXPERIMENT = Experiment(
    name="top_k",
    question="How many codes does the judge need to be told of: one, five, ten, twenty or all?",
    source="AdaMAST, Table 17",
    run=run,
    inputs={"arms": ARMS, "write": WRITE},
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
