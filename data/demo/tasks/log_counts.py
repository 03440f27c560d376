"""Count server errors per path in one hour of an access log: bounds, query strings, ties."""

from collections import Counter
from pathlib import Path
from random import Random

from .kit import Policy, Run, run, text_of, write

INSTRUCTION = """
access.log is the log of a web server. Count its server errors (status 500 to 599) from 10:00:00
to 11:00:00 UTC; the start belongs to the hour, the end does not. Write report.txt, one line a
path: the count, one tab, the path. Requests that differ only in their query string count as one
path, without the query string. Paths are case-sensitive. Requests without a path (the request is
just a dash) do not count. Most errors first; paths with equal counts in byte order. No header;
the last line ends with a newline like all others.
"""

Row = tuple[str, str, int, str]
"""Time of day, request, status, user agent."""


def rows() -> list[Row]:
    """The log as data: some noise, and the lines that make the task what it is."""
    random = Random(11)
    targets = [
        "/api/cart",
        "/api/Cart",
        "/api/pay?id=7",
        "/api/pay?id=8&x=1",
        "/health",
        "/img/a.png",
    ]
    found: list[Row] = []
    for minute in range(-12, 75, 2):
        clock = f"{10 + minute // 60:02}:{minute % 60:02}:{random.choice('012345')}1"
        status = random.choice([200, 200, 204, 302, 404, 500, 502, 503])
        target = random.choice(targets)
        found.append((clock, f"GET {target} HTTP/1.1", status, "curl/8.4 (500 tests)"))
    found += [
        ("10:00:00", "GET /api/login?next=/ HTTP/1.1", 500, "Mozilla/5.0"),
        ("10:20:02", "-", 500, "-"),
        ("10:31:30", "POST /api/login HTTP/1.1", 599, "Mozilla/5.0"),
        ("10:47:12", "-", 408, "-"),
        ("11:00:00", "GET /health HTTP/1.1", 503, "probe"),
        ("11:00:00", "GET /api/login HTTP/1.1", 503, "Mozilla/5.0"),
    ]
    return sorted(found)


def setup(work: Path) -> None:
    """Write access.log."""
    lines: list[str] = []
    for clock, request, status, agent in rows():
        client = f"10.0.0.{len(request) % 9} - - [06/May/2024:{clock} +0000]"
        lines.append(f'{client} "{request}" {status} 17 "-" "{agent}"\n')
    write(work / "access.log", "".join(lines))


def check(work: Path) -> bool:
    """The report is exactly what the rows say."""
    counts: Counter[str] = Counter()
    for clock, request, status, _ in rows():
        if "10:00:00" <= clock < "11:00:00" and 500 <= status <= 599 and request != "-":
            counts[request.split()[1].split("?")[0]] += 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))
    return text_of(work / "report.txt") == "".join(f"{count}\t{path}\n" for path, count in ordered)


def awk_in_two_steps() -> Run:
    """Knows its tools, looks once, does it, and says so at length."""
    yield run("head -5 access.log; wc -l access.log")
    yield run(
        r"""
awk '{
  t = substr($4, 14)
  if (t < "10:00:00" || t >= "11:00:00" || $6 == "\"-\"" || $9 !~ /^5[0-9][0-9]$/) next
  split($7, p, "?"); n[p[1]]++
} END { for (k in n) printf "%d\t%s\n", n[k], k }' access.log | sort -k1,1nr -k2,2 > report.txt
cat report.txt
""",
        think="Time is field 4 after the date, status field 9. In the C locale sort goes by bytes.",
    )
    return (
        "Done! `report.txt` meets every point of the task:\n\n- only 10:00:00 up to, not "
        "including, 11:00:00\n- statuses 500 to 599\n- query strings removed, paths "
        "case-sensitive\n- requests without a path left out\n- sorted by count, then byte "
        "order\n\nAll requirements are verified."
    )


def includes_the_end() -> Run:
    """Careful and wordy, with its own cross-check, but takes the end of the hour in."""
    yield run("ls; wc -l access.log; head -3 access.log", say="I'll start with the log format.")
    yield run(
        r"""grep -c '" 5[0-9][0-9] ' access.log; grep '"-"' access.log | grep -v 'HTTP' """,
        say="How many candidates are there, and how do the requests without a path look?",
    )
    yield run(
        r"""
cat > count.py <<'PY'
import re
from collections import Counter

LINE = re.compile(r'\S+ - - \[[^:]+:(\d\d:\d\d:\d\d) \+0000\] "([^"]*)" (\d{3}) ')
counts = Counter()
skipped = 0
for line in open("access.log"):
    m = LINE.match(line)
    if m is None:
        skipped += 1
        continue
    clock, request, status = m.groups()
    if not "10:00:00" <= clock <= "11:00:00":
        continue
    if not 500 <= int(status) <= 599 or request == "-":
        continue
    counts[request.split()[1].partition("?")[0]] += 1
with open("report.txt", "w") as out:
    for path, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])):
        out.write(f"{n}\t{path}\n")
print("skipped", skipped)
PY
python3 count.py && cat -A report.txt
""",
        say="Now a small script that follows the rules one by one.",
    )
    yield run(
        r"""
awk -F'\t' '{ s += $1 } END { print "sum of report:", s }' report.txt
grep -E ':(10:[0-5][0-9]:[0-5][0-9]|11:00:00) ' access.log | grep 'HTTP' | grep -c '" 5[0-9][0-9] '
""",
        say="Cross-check: the sum of the report must equal an independent count with grep.",
    )
    yield run("rm count.py; ls")
    return "report.txt lists the server errors per path; the sum agrees with a count by grep."


def stumbles_through_awk() -> Run:
    """Fights with quoting, gives up on awk, gets there with Python, and is not proud of it."""
    yield run(
        r"""awk -F'"' '$3 ~ /^ 5/ { split($1, a, ":"; print a[2], $2 }' access.log | head -3""",
    )
    yield run(
        r"""
python3 - <<'PY' > report.txt
import collections, re
c = collections.Counter()
for l in open("access.log"):
    h, req, s = re.search(r':(\d\d):\d\d:\d\d \+0000\] "(.*?)" (\d)', l).groups()
    if h == "10" and s == "5":
        c[req.split()[1].split("?")[0]] += 1
for p in sorted(c, key=lambda p: (-c[p], p)):
    print(c[p], p, sep="\t")
PY
""",
        think="Quoting trouble in awk. Python then.",
    )
    yield run(
        r"""
python3 - <<'PY' > report.txt
import collections, re
c = collections.Counter()
for l in open("access.log"):
    m = re.search(r':10:\d\d:\d\d \+0000\] "\w+ ([^ ?]+).*?" 5', l)
    c[m and m[1]] += 1
del c[None]
for p in sorted(c, key=lambda p: (-c[p], p)):
    print(c[p], p, sep="\t")
PY
cat report.txt
""",
    )
    return "Sorry for the detours. The report is written, but I did not check it a second way."


def sorts_ties_backwards_at_first() -> Run:
    """Sorts with -rn, looks at the result, sees the ties and repairs them."""
    yield run("head -2 access.log; tail -2 access.log; grep -c . access.log")
    yield run("cut -d'\"' -f2 access.log | sort | uniq -c", say="Which requests are there?")
    yield run(
        r"""
sed -nE 's/.*:10:[0-9:]+ \+0000\] "[A-Z]+ ([^ ?"]+)[^"]*" 5[0-9]{2} .*/\1/p' access.log |
  sort | uniq -c | sort -rn | awk '{ print $1 "\t" $2 }' > report.txt
cat report.txt
""",
        say="Times 10:xx:xx are exactly the hour, since 11:00:00 is out. One pipeline should do.",
    )
    yield run(
        r"""sort -t "$(printf '\t')" -k1,1nr -k2,2 -o report.txt report.txt && cat report.txt""",
        say="`sort -rn` turned the ties around: equal counts are in the wrong order. Fixing.",
    )
    return "Fixed the order of the ties. `report.txt` is complete."


POLICIES: dict[str, Policy] = {
    "awk_in_two_steps": awk_in_two_steps,
    "includes_the_end": includes_the_end,
    "stumbles_through_awk": stumbles_through_awk,
    "sorts_ties_backwards_at_first": sorts_ties_backwards_at_first,
}
