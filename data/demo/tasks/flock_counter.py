"""Make a counter script safe for many callers at once, without making strangers wait."""

import time
from pathlib import Path

from .kit import Policy, Run, bash, run, text_of, write

INSTRUCTION = """
bump.sh adds to the number in a file and prints the new number: `sh bump.sh FILE [STEP]`. Run
several times at once, it loses counts. Repair it: all steps must add up, and each run prints the
number that it wrote itself. Runs on different files must not wait for each other. A file that does
not exist yet counts as 0; a name may contain spaces. A run that was killed must not block later
ones. Keep the line with sleep as it is; it stands for slow work between reading and writing.
flock is there.
"""

SLOW = "sleep 0.15 # slow work, keep this"
SCRIPT = f"""n=$(cat "$1")
{SLOW}
echo $((n + ${{2:-1}})) > "$1"
cat "$1"
"""


def setup(work: Path) -> None:
    """Write the script and a counter."""
    write(work / "bump.sh", SCRIPT)
    write(work / "hits", "7\n")


def check(work: Path) -> bool:
    """Ten at once add up; forty on different files take far less than one after the other."""
    if SLOW not in (text_of(work / "bump.sh") or "").splitlines():
        return False
    bash(work, "sh bump.sh 'some counter' & sleep 0.05; kill -9 $!; wait; rm -f some*counter", 20.0)
    one = bash(work, "for i in $(seq 10); do sh bump.sh 'some counter' 3 & done; wait", 20.0)
    printed = sorted(int(line) for line in one.output.split() if line.isdigit())
    if printed != list(range(3, 31, 3)) or text_of(work / "some counter") != "30\n":
        return False
    started = time.monotonic()
    bash(work, "for i in $(seq 40); do sh bump.sh other$i & done; wait", 20.0)
    apart = time.monotonic() - started < 40 * 0.15 / 2
    return apart and all(text_of(work / f"other{i}") == "1\n" for i in range(1, 41))


def locks_beside_the_file() -> Run:
    """One lock file per counter, held from reading to printing."""
    yield run("cat bump.sh; ls", say="Reading first.")
    yield run(
        r"""
cat > bump.sh <<'SH'
exec 9> "$1.lock"
flock 9
n=$(cat "$1" 2>/dev/null)
sleep 0.15 # slow work, keep this
echo $((${n:-0} + ${2:-1})) > "$1"
cat "$1"
SH
for i in 1 2 3 4 5; do sh bump.sh 'a b' & done | sort -n | tr '\n' ' '; wait; cat 'a b'
""",
        think="A lock file per counter; the kernel frees a flock when its holder dies.",
        say="A lock for each counter, taken before reading and held to the end.",
    )
    yield run(
        "(sh bump.sh 'a b' & sleep 0.05; kill -9 $!; wait) 2>/dev/null; sh bump.sh 'a b' 10; "
        "rm -f 'a b' 'a b.lock'; ls",
        say="A run that is killed must not block the next one.",
    )
    return "bump.sh takes a lock per counter file now, from reading to printing."


def locks_only_the_write() -> Run:
    """Locks too late, and tests one run after the other."""
    yield run("cat bump.sh; cat hits", say="I'll read the script first.")
    yield run(
        r"""
cat > bump.sh <<'SH'
n=$(cat "$1" 2>/dev/null || echo 0)
sleep 0.15 # slow work, keep this
(
  flock 9
  echo $((n + ${2:-1})) > "$1"
  cat "$1"
) 9> "$1.lock"
SH
""",
        say="The write is where runs collide, so it goes into a flock section.",
    )
    yield run(
        'for i in $(seq 8); do sh bump.sh t; done; echo "total $(cat t), expected 8"; rm t t.lock',
        say="Test: eight runs must add up to eight.",
    )
    yield run("sh bump.sh 'my file' 4; sh bump.sh 'my file'; rm -f 'my file' 'my file.lock'")
    return (
        "bump.sh is safe for parallel use now:\n\n- writes are serialised with flock\n"
        "- missing files count as 0, names with spaces work\n- a killed run releases its lock\n\n"
        "I tested eight runs: 8 of 8 counted. All checks passed."
    )


def starts_with_a_lock_folder() -> Run:
    """A lock made with mkdir stays behind after a kill and hangs the next run; then flock."""
    yield run(
        r"""
cat > bump.sh <<'SH'
until mkdir "$1.d" 2>/dev/null; do sleep 0.01; done
trap 'rmdir "$1.d"' EXIT
n=$(cat "$1" 2>/dev/null)
sleep 0.15 # slow work, keep this
echo $((n + ${2:-1})) > "$1"
cat "$1"
SH
(sh bump.sh x & sleep 0.05; kill -9 $!; wait) 2>/dev/null; sh bump.sh x
"""
    )
    yield run(
        r"""
rm -rf x x.d
sed -i -e '1c exec 9>> "$1"' -e '2c flock 9' bump.sh
for i in 1 2 3; do sh bump.sh x & done; wait; rm x
""",
        say="kill -9 leaves the folder behind. flock then.",
    )
    return "It works with flock now. I have not tried it on other file systems."


def one_lock_for_all() -> Run:
    """Adds up perfectly, but behind a single lock; tests it from many sides."""
    yield run("cat bump.sh; for i in 1 2 3; do sh bump.sh hits & done >/dev/null; wait; cat hits")
    yield run(
        r"""
echo 7 > hits
cat > bump.sh <<'SH'
flock 9 || exit 1
n=$(cat "$1" 2>/dev/null)
sleep 0.15 # slow work, keep this
echo $((${n:-0} + ${2:-1})) > "$1"
cat "$1"
SH
sh bump.sh 'new counter'
""",
        say="All three read 7, as the task says. flock around all of it, then.",
    )
    yield run(
        r"""
sed -i '1i exec 9> "$TMPDIR/bump.lock"' bump.sh
for i in $(seq 12); do sh bump.sh 'new counter' 2 & done | sort -n | paste -sd' '; wait
cat 'new counter'
""",
        say="Descriptor 9 must be opened first. Now twelve at once:",
    )
    yield run(
        "(sh bump.sh hits & sleep 0.05; kill -9 $!; wait) 2>/dev/null; sh bump.sh hits",
        say="A killed run: the next one must get through.",
    )
    yield run(
        "mkdir sub; cd sub && sh ../bump.sh here; sh ../bump.sh here 5; ls; cd .. && rm -r sub",
        say="From another folder, and with a step.",
    )
    yield run(
        "for i in 1 2 3 4; do sh bump.sh hits & sh bump.sh 'new counter' & done | sort -n | "
        "paste -sd' '; wait; tail hits 'new counter'",
        say="Two counters at a time: both must add up.",
    )
    yield run("rm 'new counter'; echo 7 > hits; ls", say="And clean up.")
    return "bump.sh is locked now; twelve runs at once add up to 24."


POLICIES: dict[str, Policy] = {
    "locks_beside_the_file": locks_beside_the_file,
    "locks_only_the_write": locks_only_the_write,
    "starts_with_a_lock_folder": starts_with_a_lock_folder,
    "one_lock_for_all": one_lock_for_all,
}
