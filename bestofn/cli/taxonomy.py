"""`bestofn taxonomy`: shows, proves and compares failure taxonomies."""

from __future__ import annotations

from typing import Annotated

import typer

from bestofn.cli.options import JsonOption

app = typer.Typer(
    help="Show, validate and compare failure taxonomies: AdaMAST's taxonomy.json, MAST, your own.\n\n"
    "Example: bestofn taxonomy show terminal-bench",
    no_args_is_help=True,
    rich_markup_mode=None,
)

TaxonomyArgument = Annotated[
    str, typer.Argument(metavar="TAXONOMY", help="A taxonomy.json, or a built-in name.", show_default=False)
]
AllowReviewOption = Annotated[
    bool, typer.Option("--allow-review", help="Take a taxonomy whose status is review_required.")
]


@app.command()
def show(
    taxonomy: Annotated[str, typer.Argument(metavar="[TAXONOMY]", help="A taxonomy.json, or a built-in name.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print it as a flat taxonomy.json.")] = False,
    allow_review: AllowReviewOption = False,
) -> None:
    """Show a taxonomy's codes; without a name, the built-in taxonomies.

    Example: bestofn taxonomy show mast-14
    """
    from bestofn.cli.output import columns, write
    from bestofn.taxonomy import AXES, flat, load, names

    if not taxonomy:
        found = [load(name) for name in names()]
        rows = [(t.name, str(len(t.codes)), *(str(len(t.axis(a))) for a in AXES), t.status, t.title) for t in found]
        write(columns(("taxonomy", "codes", *AXES, "status", "title"), rows, right=(1, 2, 3, 4)), None)
        return
    read = load(taxonomy, allow_review=allow_review)
    if json:
        from bestofn.taxonomy import text

        write(text(flat(read)), None)
        return
    facts = (("domain", read.domain), ("status", read.status), ("origin", read.origin), ("about", read.summary))
    lines = [f"{read.title} ({read.name}, {len(read.codes)} codes, {read.form}, {read.digest})"]
    lines += [f"{name}: {value}" for name, value in facts if value]
    rows = [(code.axis, code.id, code.name, code.severity, code.description) for code in read.codes]
    write("\n".join([*lines, "", columns(("axis", "id", "name", "severity", "what goes wrong"), rows)]), None)


@app.command()
def validate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="taxonomy.json files, or built-in names.")],
    allow_review: AllowReviewOption = False,
) -> None:
    """Prove taxonomies: every code whole, its id its own. Each problem names the code and the field.

    Exit code 2 where there is any problem, and for a taxonomy that still needs review unless that is allowed.

    Example: bestofn taxonomy validate taxonomy.json
    """
    from bestofn.cli import USAGE
    from bestofn.cli.output import remark, write
    from bestofn.errors import ContentError
    from bestofn.taxonomy import load, problems

    failed = False
    for file in files:
        found = problems(file)
        for problem in found:
            remark(problem)
        if not found:
            try:
                read = load(file, allow_review=allow_review)
            except ContentError as error:
                remark(str(error))
                failed = True
                continue
            write(f"{file}: {len(read.codes)} codes hold ({read.form})", None)
        failed = failed or bool(found)
    if failed:
        raise typer.Exit(USAGE)


@app.command()
def compare(
    first: TaxonomyArgument, second: TaxonomyArgument, json: JsonOption = False, allow_review: AllowReviewOption = False
) -> None:
    """How much two taxonomies share: the Jaccard index of their codes' names, of all and of the A axis alone.

    Names are compared in lower case, without plural endings; codes of one meaning under two names count as different.

    Example: bestofn taxonomy compare terminal-bench swe-bench
    """
    from bestofn.cli.output import to_json, write
    from bestofn.taxonomy import compare as compared
    from bestofn.taxonomy import load

    one, other = (load(name, allow_review=allow_review) for name in (first, second))
    found = compared(one, other)
    known = found.backbone == found.backbone
    if json:
        write(to_json({**found._asdict(), "backbone": found.backbone if known else None}), None)
        return
    lines = [
        f"all codes   {found.full:.2f}  ({len(found.shared)} shared of {len(one.codes)} and {len(other.codes)})",
        f"A axis      {f'{found.backbone:.2f}' if known else '-'}  ({len(one.axis('A'))} and {len(other.axis('A'))})",
    ]
    for title, codes in (
        ("shared", found.shared),
        (f"only {one.name}", found.only_first),
        (f"only {other.name}", found.only_second),
    ):
        lines += ["", f"{title}: {', '.join(codes) or 'none'}"]
    write("\n".join(lines), None)
