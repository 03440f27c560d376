"""Does a taxonomy still help on tasks that were not seen when it was made?

python experiments/held_out_taxonomy.py --pool POOL --model MODEL --with command='induce {traces} -o {output}'
"""

from collections.abc import Iterator
from pathlib import Path

from bestofn.ablation import Experiment, Lacking, Piece, Setting, Sheet, Subject
from bestofn.ablation.answers import ask, compare_variants
from bestofn.ablation.folds import folds, induce, read_categories
from bestofn.ablation.variant import OWN, WRITE, Part, Variant, criteria_of, own, write
from bestofn.ablation.wording import lists_from, text_of, with_lists
from bestofn.criteria import parse
from bestofn.judge.showing import Showing
from bestofn.taxonomy import Taxonomy, load

FOLDS = 5
HELD_OUT, SAME = "held out", "same pool"
HOW = (
    "--with command='... {traces} ... {output}' that writes taxonomy.json, or --with taxonomies=FOLDER with "
    "fold-1.json to fold-5.json and all.json"
)


def run(setting: Setting) -> Iterator[Piece]:
    """Each fold judged with what the other folds taught, beside a taxonomy made of all and the shipped one."""
    for subject in setting.subjects:
        parts = parted(setting, subject)
        every = [own(setting), *(variant(setting, subject, name, parts) for name in (HELD_OUT, SAME))]
        yield from write(every, setting, subject.name)
        yield from compare_variants(setting, subject, ask(setting, subject, every), every)
        yield Sheet(
            f"{subject.name}: folds",
            ("fold", "tasks", "held out"),
            tuple((n, len(fold), ", ".join(sorted(fold))) for n, fold in enumerate(parts, start=1)),
            "by category" if "categories" in setting.inputs else "dealt out in an order drawn from the tasks' names",
        )


def parted(setting: Setting, subject: Subject) -> list[frozenset[str]]:
    """The tasks in folds: by category where a file names them."""
    given = setting.inputs.get("categories")
    categories = read_categories(Path(given)) if given is not None else None
    return folds(subject.table.task_names, FOLDS, seed=setting.seed, categories=categories)


def variant(setting: Setting, subject: Subject, name: str, parts: list[frozenset[str]]) -> Variant:
    """The judge's criteria with induced codes: each fold's from the other folds, or the same of all tasks for all."""
    what = "codes made of the other folds" if name == HELD_OUT else "codes made of all tasks, those judged among them"
    taught: dict[str, tuple[frozenset[str] | None, Taxonomy]]
    try:
        if name == SAME:
            everything = frozenset(subject.table.task_names)
            taught = {"all": (None, taxonomy(setting, subject, "all", everything))}
        else:
            taught = {
                f"fold-{n}": (fold, taxonomy(setting, subject, f"fold-{n}", frozenset().union(*parts) - fold))
                for n, fold in enumerate(parts, start=1)
            }
    except Lacking as reason:
        return Variant(name, what, (), {}, lacking=reason)
    [criteria, *also] = criteria_of(setting)
    texts = {
        file: with_lists(text_of(criteria), lists_from(made), title=f"{criteria.title}, {file}", taxonomy=made.name)
        for file, (_, made) in taught.items()
    }
    asked = tuple(Part((parse(texts[file], file), *also), fold) for file, (fold, _) in taught.items())
    return Variant(name, what, asked, texts)


def taxonomy(setting: Setting, subject: Subject, name: str, tasks: frozenset[str]) -> Taxonomy:
    """The taxonomy made of some tasks: a file that is there, else what the command makes of their runs."""
    path = setting.place("taxonomies") / f"{name}.json" if "taxonomies" in setting.inputs else None
    if path is not None and path.is_file():
        return load(path, allow_review=True)
    command = setting.inputs.get("command")
    if command is None:
        given = setting.inputs.get("taxonomies")
        why = f"no {name}.json in {given}" if given is not None else "no taxonomies made of this pool's folds"
        raise Lacking(why, f"{setting.command} {HOW}")
    if subject.pool is None:
        raise Lacking(
            "a table holds no recordings to make a taxonomy of", "give the pool with --pool instead of --table"
        )
    if path is None:
        raise Lacking("nowhere to keep the taxonomies", f"{setting.command} {HOW}; with a command, give the folder too")
    induce(command, subject.pool, tasks, path, Showing())
    return load(path, allow_review=True)


EXPERIMENT = Experiment(
    name="held_out_taxonomy",
    question="Does a taxonomy still help on tasks that were not seen when it was made?",
    source="AdaMAST, section 4.4 (held-out 5-fold validation)",
    reference=OWN,
    run=run,
    inputs={
        "command": "a command with {traces} and {output}: reads texts of runs, writes taxonomy.json",
        "taxonomies": "a folder of fold-1.json ... and all.json; with a command, where it keeps what it makes",
        "categories": "a JSON object of task to category, to hold whole categories out",
        "write": WRITE,
    },
)

if __name__ == "__main__":
    import sys

    from bestofn.cli import run as command

    sys.exit(command(["ablate", __file__, *sys.argv[1:]]))
