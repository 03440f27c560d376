"""Add up working minutes across changes of the clock, with an hour that happens twice."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from .kit import Policy, Run, run, text_of, write

INSTRUCTION = """
shifts.csv lists night shifts: name, time zone, date, start and end as the clock on the wall showed
them in that zone. An end that is not later than the start is on the next day. When the clocks were
put back, one hour came twice: a start in it means its first occurrence, an end its second. Write
minutes.csv with the header `name,minutes` and one line a person, sorted by name: the minutes
really worked, added up. Python has zoneinfo, `date` knows the zones.
"""

MAX_CALLS = 12

SHIFTS = [
    ("Ada", "America/New_York", "2024-03-09", "22:00", "06:00"),
    ("Ada", "America/New_York", "2024-03-11", "22:00", "06:00"),
    ("Ben", "Europe/Berlin", "2024-10-26", "21:30", "06:00"),
    ("Cy", "America/New_York", "2024-11-02", "20:00", "01:30"),
    ("Dee", "Europe/Berlin", "2024-10-27", "02:30", "10:00"),
    ("Dee", "Europe/Berlin", "2024-10-28", "20:00", "20:00"),
    ("Eve", "Asia/Kolkata", "2024-03-30", "22:15", "05:45"),
    ("Fay", "Australia/Lord_Howe", "2024-04-06", "20:00", "08:00"),
]


def setup(work: Path) -> None:
    """Write shifts.csv."""
    lines = [",".join(shift) + "\n" for shift in SHIFTS]
    write(work / "shifts.csv", "name,zone,date,start,end\n" + "".join(lines))


def worked(zone: str, date: str, start: str, end: str) -> int:
    """The minutes of one shift, counted in UTC."""
    first = datetime.fromisoformat(f"{date} {start}").replace(tzinfo=ZoneInfo(zone), fold=0)
    last = datetime.fromisoformat(f"{date} {end}").replace(tzinfo=ZoneInfo(zone), fold=1)
    if end <= start:
        last = (last + timedelta(days=1)).replace(fold=1)
    return int((last.astimezone(UTC) - first.astimezone(UTC)).total_seconds()) // 60


def check(work: Path) -> bool:
    """Every sum is right."""
    sums: dict[str, int] = {}
    for name, *shift in SHIFTS:
        sums[name] = sums.get(name, 0) + worked(*shift)
    lines = [f"{name},{minutes}\n" for name, minutes in sorted(sums.items())]
    return text_of(work / "minutes.csv") == "name,minutes\n" + "".join(lines)


def subtracts_in_one_zone() -> Run:
    """Subtracts two times of one zone, which Python does by the wall clock."""
    yield run("head -4 shifts.csv")
    yield run(
        r"""
python3 - <<'PY' > minutes.csv
import csv
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

total = {}
for r in csv.DictReader(open("shifts.csv")):
    zone = ZoneInfo(r["zone"])
    start = datetime.fromisoformat(r["date"] + " " + r["start"]).replace(tzinfo=zone)
    end = datetime.fromisoformat(r["date"] + " " + r["end"]).replace(tzinfo=zone, fold=1)
    if end <= start:
        end += timedelta(days=1)
    total[r["name"]] = total.get(r["name"], 0) + (end - start) // timedelta(minutes=1)
print("name,minutes")
for name in sorted(total):
    print(name, total[name], sep=",")
PY
""",
        think="zoneinfo takes care of the clock changes; fold=1 picks the second occurrence.",
    )
    return (
        "minutes.csv is done!\n\n- time zones by zoneinfo, with all clock changes\n- the repeated "
        "hour by fold\n- shifts over midnight\n- summed and sorted by name\n\nAll requirements met."
    )


def forgets_the_second_occurrence() -> Run:
    """Counts in UTC and checks two nights, but takes the first of the hours for ends as well."""
    yield run("cat shifts.csv", say="Let me see the shifts.")
    yield run(
        r"""
cat > shifts.py <<'PY'
import csv
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo


def utc(day, clock, zone):
    local = datetime.fromisoformat(f"{day} {clock}").replace(tzinfo=ZoneInfo(zone))
    return local.astimezone(timezone.utc)


total = {}
for row in csv.DictReader(open("shifts.csv")):
    day = row["date"]
    start = utc(day, row["start"], row["zone"])
    if row["end"] <= row["start"]:
        day = (datetime.fromisoformat(day) + timedelta(days=1)).date().isoformat()
    minutes = (utc(day, row["end"], row["zone"]) - start) // timedelta(minutes=1)
    print(row["name"], row["date"], minutes)
    total[row["name"]] = total.get(row["name"], 0) + minutes

with open("minutes.csv", "w") as out:
    print("name,minutes", file=out)
    for name, minutes in sorted(total.items()):
        print(f"{name},{minutes}", file=out)
PY
python3 shifts.py && cat minutes.csv
""",
        say="Durations must be computed in UTC: two local times of one zone ignore the change.",
    )
    yield run(
        r"""
s() { TZ=$1 date -d "$2" +%s; }
z=America/New_York; echo $((($(s $z '2024-03-10 06:00') - $(s $z '2024-03-09 22:00')) / 60))
z=Europe/Berlin; echo $((($(s $z '2024-10-27 06:00') - $(s $z '2024-10-26 21:30')) / 60))
""",
        say="Independent check with `date`: Ada's first night should be 420, Ben's 570.",
    )
    return "All shifts are added up in minutes.csv; two nights were checked with `date`."


def loops_with_date() -> Run:
    """Seconds since the epoch from `date`, which settles the repeated hour in its own way."""
    yield run("head -3 shifts.csv; TZ=Asia/Kolkata date -d '2024-11-03 01:30' +%s")
    yield run(
        r"""
tail -n +2 shifts.csv | while IFS=, read -r name zone day start end; do
  next=$day; [[ $end > $start ]] || next=$(date -d "$day + 1 day" +%F)
  a=$(TZ=$zone date -d "$day $start" +%s); b=$(TZ=$zone date -d "$next $end" +%s)
  echo "$name $(( (b - a) / 60 ))"
done | awk '{ s[$1] += $2 } END { for (n in s) print n "," s[n] }' | sort > minutes.csv
sed -i '1i name,minutes' minutes.csv; cat minutes.csv
"""
    )
    yield run("TZ=America/New_York date -d '2024-11-03 01:30'")
    return (
        "minutes.csv is written. I'm not sure which of the two hours `date` takes when the clocks "
        "go back; the sums may be off by an hour for Cy or Dee if it is the wrong one."
    )


def guesses_the_offsets() -> Run:
    """Hard-codes offsets, stumbles over Lord Howe, and tries the same line until the end."""
    yield run("cut -d, -f2 shifts.csv | sort -u")
    yield run(
        r"""
cat > m.py <<'PY'
import csv
OFFSET = {"America/New_York": -5, "Europe/Berlin": 1, "Asia/Kolkata": 5.5}
total = {}
for r in csv.DictReader(open("shifts.csv")):
    h = lambda t: int(t[:2]) * 60 + int(t[3:]) - OFFSET[r["zone"]] * 60
    m = (h(r["end"]) - h(r["start"])) % 1440 or 1440
    total[r["name"]] = total.get(r["name"], 0) + int(m)
with open("minutes.csv", "w") as f:
    f.write("name,minutes\n" + "".join(f"{n},{m}\n" for n, m in sorted(total.items())))
PY
python3 m.py 2>&1 | tail -1
""",
        say="The offsets of the zones are known.",
    )
    yield run("sed -i 's/5.5}/5.5, \"Australia\\/Lord Howe\": 10.5}/' m.py", say="One is missing.")
    while True:
        seen = yield run(
            "set -o pipefail; python3 m.py 2>&1 | tail -1 && cat minutes.csv",
            say="Let me run it again.",
        )
        if not seen.exit_code:
            return "minutes.csv is complete."


POLICIES: dict[str, Policy] = {
    "subtracts_in_one_zone": subtracts_in_one_zone,
    "forgets_the_second_occurrence": forgets_the_second_occurrence,
    "loops_with_date": loops_with_date,
    "guesses_the_offsets": guesses_the_offsets,
}
