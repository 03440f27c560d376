"""Find the commit that made a total wrong, in a history where some commits cannot run at all."""

import re
from pathlib import Path

from .kit import Policy, Run, must, run, text_of, write

INSTRUCTION = """
In ./repo, `python3 total.py` should print 61.50. On main it prints another number. Find the first
commit that prints a wrong number, and write its full hash, and nothing else, into answer.txt (in
the directory above repo). Some commits in between crash for other reasons; a commit that crashes
prints no number, so it is not the one. The history is linear.
"""

MAX_CALLS = 15

GOOD = """import csv

total = 0.0
for row in csv.DictReader(open("prices.csv")):
    total += float(row["price"]) * int(row["count"])
print(f"{total:.2f}")
"""
CRASHES = GOOD.replace("csv\n", "csv\n\nfrom money import parse\n", 1).replace("float(", "parse(")
ROUNDED = GOOD.replace('float(row["price"])', 'round(float(row["price"]), 1)')
VERSIONS = [
    ("Add total", GOOD),
    ("Name the script", "# Adds up prices.\n" + GOOD),
    ("Read the header", "# Adds up prices, by the header.\n" + GOOD),
    ("Shorten the comment", "# Adds up prices.\n" + GOOD),
    ("Move parsing to a helper", "# Adds up prices.\n" + CRASHES),
    ("Say what it reads", "# Adds up prices.csv.\n" + CRASHES),
    ("Tidy the loop", "# Adds up prices.csv.\n" + CRASHES.replace("total = 0.0", "total = 0")),
    ("Parse in place again", "# Adds up prices.csv.\n" + GOOD),
    ("Note the unit", "# Adds up prices.csv, in euro.\n" + GOOD),
    ("Start at zero", "# Adds up prices.csv, in euro.\n" + GOOD.replace("0.0", "0")),
    ("Clean up price handling", "# Adds up prices.csv, in euro.\n" + ROUNDED),
    ("Note the format", "# Adds up prices.csv (price,count), in euro.\n" + ROUNDED),
    ("Start at 0.0 again", "# Adds up prices.csv: price,count, in euro.\n" + ROUNDED),
    ("Name the fields less", "# Adds up prices.csv.\n" + ROUNDED),
]
FIRST_WRONG = "Clean up price handling"


def setup(work: Path) -> None:
    """Make the history, one commit a version."""
    must(work, "git init -q -b main repo")
    write(work / "repo" / "prices.csv", "price,count\n1.25,6\n3.05,10\n2.35,10\n")
    for subject, script in VERSIONS:
        write(work / "repo" / "total.py", script)
        must(work, f"cd repo && git add . && git commit -q -m '{subject}'")
    must(work, f"git -C repo log --format=%H --grep='^{FIRST_WRONG}$' main > ../home/wanted")


def check(work: Path) -> bool:
    """The answer is the hash that the setup noted."""
    wanted = (work.parent / "home" / "wanted").read_text()
    return (text_of(work / "answer.txt") or "").strip() == wanted.strip()


def calls_a_crash_bad() -> Run:
    """Lets bisect run a test in which a crash looks like a wrong number."""
    seen = yield run("cd repo && git log --oneline && python3 total.py", say="A case for bisect.")
    first = seen.output.splitlines()[len(VERSIONS) - 1].split()[0]
    seen = yield run(
        f"cd repo && git bisect start main {first} && "
        """git bisect run sh -c 'test "$(python3 total.py 2>&1)" = 61.50'""",
    )
    found = re.findall(r"^([0-9a-f]{40}) is the first bad commit", seen.output, re.MULTILINE)
    yield run(
        f"cd repo && git bisect reset >/dev/null 2>&1; echo {found[0] if found else 'HEAD'} > "
        "../answer.txt && cat ../answer.txt",
    )
    return (
        "Success! `git bisect run` identified the first bad commit automatically:\n\n"
        "- the good and the bad end were checked\n- every step was decided by the real output\n"
        "- answer.txt holds the full 40-digit hash and nothing else\n\nTask complete."
    )


def runs_every_commit() -> Run:
    """Fourteen commits are few: runs them all and reads the list."""
    yield run("ls -A . repo; cd repo && git status -sb", say="Let me get an overview first.")
    yield run("cd repo && cat total.py prices.csv && python3 total.py", say="What does main do?")
    yield run("cd repo && git log --stat --format='%n%h %s' | head -40")
    seen = yield run(
        r"""
cd repo && for c in $(git rev-list --reverse main); do
  git checkout -q "$c"; printf '%s %s\n' "$c" "$(python3 total.py 2>&1 | tail -1)"
done; git checkout -q main
""",
        say="There are only a few commits, so I simply run each of them, oldest first.",
    )
    lines = [line.split(" ", 1) for line in seen.output.splitlines()]
    wrong = [c for c, shown in lines if re.fullmatch(r"\d+\.\d\d", shown) and shown != "61.50"]
    yield run(
        f"cd repo && git show --format='%h %s' {wrong[0]}",
        think="Crashes first, then right again, then wrong from here to the end.",
        say="This is where the wrong numbers begin. Does the change explain it?",
    )
    yield run(f"echo {wrong[0]} > answer.txt; cat answer.txt", say="It does: prices are rounded.")
    return f"The first commit with a wrong number is `{wrong[0][:8]}`."


def writes_the_short_hash() -> Run:
    """Skips the crashing commits as it should, then writes an abbreviated hash."""
    yield run("ls; cd repo && git status -sb && cat total.py prices.csv")
    seen = yield run("cd repo && git log --oneline --reverse")
    first = seen.output.split()[0]
    yield run(
        r"""
cat > probe.sh <<'SH'
out=$(python3 total.py 2>/dev/null) || exit 125
[ "$out" = 61.50 ]
SH
cd repo && sh ../probe.sh; echo "main: $?"
""",
        say="Crashes do not count, so the probe answers 125 for them and bisect skips those.",
    )
    yield run(f"cd repo && git bisect start main {first} && git bisect run sh ../probe.sh")
    yield run(
        "cd repo && git rev-parse --short refs/bisect/bad > ../answer.txt && "
        "git bisect reset >/dev/null 2>&1 && cat ../answer.txt",
    )
    yield run(
        r"""
cd repo && for c in "$(cat ../answer.txt)~1" "$(cat ../answer.txt)"; do
  git checkout -q "$c" && python3 total.py; done; git checkout -q main; rm ../probe.sh
""",
        say="Check: the commit before it must print 61.50, and it itself something else.",
    )
    return "Its parent still prints 61.50, it prints another number. The hash is in answer.txt."


def keeps_checking_after_the_answer() -> Run:
    """Halves the list by hand, writes the answer, and cannot stop looking."""
    seen = yield run("cd repo && git log --format='%H %s' --reverse")
    commits = [line.split()[0] for line in seen.output.splitlines()]
    low, high = 0, len(commits) - 1
    while high - low > 1:
        middle = (low + high) // 2
        seen = yield run(f"cd repo && git checkout -q {commits[middle][:10]} && python3 total.py")
        while seen.exit_code and middle < high - 1:
            middle += 1
            seen = yield run(
                f"cd repo && git checkout -q {commits[middle][:10]} && python3 total.py",
                say="This one crashes, so it says nothing. The next one.",
            )
        if "61.50" in seen.output:
            low = middle
        else:
            high = middle
    yield run(f"echo {commits[high]} > answer.txt", say="It should be this one.")
    for commit in [*commits[high:], *commits[:high]]:
        yield run(f"cd repo && git checkout -q {commit[:10]} && python3 total.py", say="Sure?")
    return "The answer is written, I think."


POLICIES: dict[str, Policy] = {
    "calls_a_crash_bad": calls_a_crash_bad,
    "runs_every_commit": runs_every_commit,
    "writes_the_short_hash": writes_the_short_hash,
    "keeps_checking_after_the_answer": keeps_checking_after_the_answer,
}
