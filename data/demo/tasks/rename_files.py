"""Rename files by a rule: spaces, leading dashes, letters beyond ASCII, names already taken."""

from pathlib import Path

from .kit import Policy, Run, run, text_of, write

INSTRUCTION = """
Rename the files in ./inbox by these rules: all letters in lower case (also those beyond ASCII),
each run of spaces one underscore, no dashes at the start. Only regular files directly in inbox:
leave folders, what is in them, and names that start with a dot. Names that already fit stay. Take
the others in the byte order of their old names; when the new name is taken at that moment, by
whatever it be, put -2, or -3 and so on, before the last dot (at the end where there is no dot).
Contents do not change. Names are UTF-8.
"""

NAMES = [
    "My Report.TXT",
    "-draft  v2.txt",
    "--Über uns.md",
    "ÉTÉ 2023.Jpg",
    "été_2023.jpg",
    "notes.txt",
    "Notes.txt",
    "NOTES.TXT",
    "Archive.TAR.GZ",
    "archive.tar.gz",
    "README",
    "old stuff",
    ".Hidden Draft",
    "plan.txt",
]


def setup(work: Path) -> None:
    """Each file holds its own name."""
    for name in NAMES:
        write(work / "inbox" / name, name + "\n")
    write(work / "inbox" / "Old Folder" / "Keep ME.txt", "Keep ME.txt\n")
    write(work / "inbox" / "readme" / "x", "x\n")


def wanted() -> dict[str, str]:
    """New name and content of every file directly in inbox, by the rules."""
    there = {name: name + "\n" for name in NAMES}
    folders = {"Old Folder", "readme"}
    for name in sorted(NAMES, key=str.encode):
        new = "_".join(part for part in name.lower().split(" ") if part).lstrip("-")
        if name.startswith(".") or new == name:
            continue
        stem, dot, extension = new.rpartition(".")
        if not dot:
            stem, extension = new, ""
        free, number = new, 2
        while free in there or free in folders:
            free, number = f"{stem}-{number}{dot}{extension}", number + 1
        there[free] = there.pop(name)
    return there


def check(work: Path) -> bool:
    """Every content is under the name that the rules give it, and the folders are as they were."""
    inbox = work / "inbox"
    files = {path.name: text_of(path) for path in inbox.iterdir() if path.is_file()}
    folders = sorted(str(path.relative_to(inbox)) for path in inbox.glob("*/*"))
    return files == wanted() and folders == ["Old Folder/Keep ME.txt", "readme/x"]


def lower_case_of_ascii_only() -> Run:
    """A tidy loop in bash whose lower case stops at ASCII."""
    yield run(
        r"""
cd inbox && for old in *; do
  [ -f "$old" ] || continue
  new=$(printf '%s' "$old" | tr '[:upper:]' '[:lower:]' | tr -s ' ' '_' | sed 's/^-*//')
  [ "$new" = "$old" ] && continue
  stem=${new%.*}; ext=.${new##*.}; [ "$stem" = "$new" ] && ext=
  free=$new; n=2
  while [ -e "$free" ]; do free=$stem-$n$ext; n=$((n + 1)); done
  mv -- "$old" "$free"
done
""",
        think="Globs sort by bytes here. `mv --` for leading dashes, -e for taken names.",
    )
    yield run("ls inbox | wc -l; cat inbox/notes-2.txt inbox/notes-3.txt")
    return "Renamed. I did not look at each name, so please have a glance at the odd ones."


def overwrites_taken_names() -> Run:
    """A few lines of Python that never look whether a file has the name already."""
    yield run("ls -A inbox; ls -A inbox/*/", say="What is there?")
    yield run("python3 -m slugify --help", say="Is there a module for it?")
    yield run(
        r"""
cat > rename.py <<'PY'
import os
import re

for old in sorted(os.listdir("inbox")):
    path = os.path.join("inbox", old)
    if old.startswith(".") or not os.path.isfile(path):
        continue
    new = re.sub(" +", "_", old.lower()).lstrip("-")
    if new != old and os.path.isdir(os.path.join("inbox", new)):
        new += "-2"
    print(old, "->", new)
    os.rename(path, os.path.join("inbox", new))
PY
python3 rename.py
""",
        say="A short program then. README needs care: there is a folder named readme.",
    )
    yield run("ls -A inbox; rm rename.py", say="The result:")
    return (
        "All files are renamed by the rules:\n\n- lower case, also É and Ü\n- one underscore for "
        "each run of spaces\n- no leading dashes\n- README became readme-2, its name was taken\n"
        "- folders and hidden files are untouched\n\nEverything checks out."
    )


def gets_there_with_python() -> Run:
    """Shell attempts that fail on dashes, then a dry run and the real one."""
    yield run("cd inbox && ls -A && ls *.md")
    yield run("cd inbox && mv -- '--Uber uns.md' uber_uns.md", say="Start with the odd one.")
    script = r"""
cat > ren.py <<'PY'
import re, sys
from pathlib import Path
box = Path("inbox")
names = [p.name for p in box.iterdir() if p.is_file() and p.name[0] != "."]
for old in sorted(names, key=lambda n: n.encode()):
    new = re.sub(" +", "_", old.lower()).lstrip("-")
    if new == old:
        continue
    target, n = box / new, 1
    while target.exists():
        n += 1
        target = box / f"{Path(new).stem}-{n}{Path(new).suffix}"
    print(repr(old), "->", target.name)
    if sys.argv[1:] == ["go"]:
        (box / old).rename(target)
PY
"""
    yield run(script + "python3 ren.py", say="That is a real umlaut. Python then, first a dry run.")
    yield run("python3 ren.py go; rm ren.py", say="The order is right; now for real.")
    return "The files are renamed, with -2 and -3 where a name was taken."


def leaves_in_the_middle() -> Run:
    """Renames one by one with care, with a look after each, and breaks off."""
    yield run("ls -1A inbox | cat -A", think="Fourteen files. One by one, to be safe.")
    yield run('cd inbox && for f in *; do [ -f "$f" ] && printf \'%s: \' "$f" && cat -- "$f"; done')
    yield run("cd inbox && mv '--Über uns.md' 'über_uns.md'", say="The first in byte order.")
    yield run("cd inbox && mv -v -- '--Über uns.md' 'über_uns.md'", say="With `--` for the dashes.")
    yield run("cd inbox && mv -v -- '-draft  v2.txt' 'draft_v2.txt'; ls *.txt", say="Two spaces.")
    yield run(
        "cd inbox && mv -vn Archive.TAR.GZ archive.tar-2.gz && cat archive.tar*",
        say="archive.tar.gz is taken, so -2 goes before the last dot.",
    )
    yield run("cd inbox && mv -vn 'My Report.TXT' my_report.txt && ls -A", say="This one is free.")
    yield run(
        "cd inbox && mv -vn NOTES.TXT notes-2.txt && mv -vn Notes.txt notes-3.txt && cat notes*",
        say="Now the notes: NOTES.TXT comes before Notes.txt in byte order.",
    )
    yield run("cd inbox && mv -vn README readme-2 && ls -d r*", say="A folder has the name readme.")
    yield run("cd inbox && ls -1 | grep '[A-Z ]'", say="What is left?")
    return None


POLICIES: dict[str, Policy] = {
    "lower_case_of_ascii_only": lower_case_of_ascii_only,
    "overwrites_taken_names": overwrites_taken_names,
    "gets_there_with_python": gets_there_with_python,
    "leaves_in_the_middle": leaves_in_the_middle,
}
