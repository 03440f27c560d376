"""A report out of SQLite as CSV: customers without orders, and a status that is not set."""

import csv
import io
import sqlite3
from pathlib import Path

from .kit import Policy, Run, run, text_of

INSTRUCTION = """
shop.db is an SQLite database with the tables customers and orders. Write report.csv: a header
line `name,orders,total`, then one line for every customer, also for those without orders: the
number and the sum of the orders that are not cancelled. An order whose status is not set is not
cancelled. Amounts are stored in cents; write them in units with two decimals and a point. Highest
total first, equal totals by name without regard to case. Quote only where CSV needs it; lines end
with a single newline. Python's sqlite3 module is there.
"""

CUSTOMERS = ["Bolt & Sons", "acme", "Zorn, Ida", "Delta", "delphi", "Emil", "Fay"]
ORDERS: list[tuple[int, str | None, int]] = [
    (1, "paid", 1999),
    (1, None, 1),
    (2, "cancelled", 90000),
    (2, "paid", 2000),
    (3, None, 12345),
    (3, "paid", 5),
    (4, "cancelled", 700),
    (5, "open", 150),
    (5, "paid", 149),
    (6, "Cancelled by mistake", 299),
]


def setup(work: Path) -> None:
    """Fill the database."""
    with sqlite3.connect(work / "shop.db") as db:
        db.execute("create table customers (id integer primary key, name text not null)")
        db.execute("create table orders (id integer primary key, customer int, status text, cents)")
        db.executemany("insert into customers (name) values (?)", [(name,) for name in CUSTOMERS])
        db.executemany("insert into orders (customer, status, cents) values (?, ?, ?)", ORDERS)
    db.close()


def check(work: Path) -> bool:
    """The file is exactly what the rows above say."""
    found: list[tuple[str, int, int]] = []
    for number, name in enumerate(CUSTOMERS, 1):
        cents = [c for who, status, c in ORDERS if who == number and status != "cancelled"]
        found.append((name, len(cents), sum(cents)))
    found.sort(key=lambda row: (-row[2], row[0].lower()))
    wanted = io.StringIO()
    lines = csv.writer(wanted, lineterminator="\n")
    lines.writerow(["name", "orders", "total"])
    lines.writerows([name, count, f"{cents / 100:.2f}"] for name, count, cents in found)
    return text_of(work / "report.csv") == wanted.getvalue()


def joins_only_buyers() -> Run:
    """An inner join: whoever bought nothing is gone."""
    yield run("ls; head -c 15 shop.db")
    yield run('python3 -c \'import sqlite3; sqlite3.connect("shop.db").execute(".schema")\'')
    yield run("""python3 -c "
import sqlite3
for row in sqlite3.connect('shop.db').execute('select sql from sqlite_master'): print(row[0])" """)
    yield run(
        r"""
python3 - <<'PY'
import csv, sqlite3
rows = sqlite3.connect("shop.db").execute('''
    select c.name, count(*), printf('%.2f', sum(o.cents) / 100.0)
    from customers c join orders o on o.customer = c.id
    where coalesce(o.status, '') <> 'cancelled'
    group by c.id order by sum(o.cents) desc, lower(c.name)''')
with open("report.csv", "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["name", "orders", "total"])
    w.writerows(rows)
PY
cat report.csv
""",
        think="Unset statuses count as not cancelled, so coalesce before comparing.",
    )
    yield run("grep -c $'\\r' report.csv; tail -c 20 report.csv | od -c | head -3")
    return "The report is in report.csv, sorted by total, with plain newlines."


def filters_after_the_join() -> Run:
    """A left join, undone by its own where clause; a check of the sums that repeats the mistake."""
    yield run("ls -A", say="I'll look at what is there.")
    yield run(
        r"""
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("shop.db")
for name, sql in db.execute("select name, sql from sqlite_master"):
    print(sql)
    for row in db.execute(f"select * from {name}"):
        print("  ", row)
PY
""",
        say="Both tables are small, so I print them.",
    )
    yield run(
        r"""
cat > report.py <<'PY'
import csv
import sqlite3

SQL = '''
SELECT c.name, COUNT(o.id) AS orders, COALESCE(SUM(o.cents), 0) AS cents
FROM customers c
LEFT JOIN orders o ON o.customer = c.id
WHERE o.status <> 'cancelled'
GROUP BY c.id
ORDER BY cents DESC, c.name COLLATE NOCASE
'''
rows = sqlite3.connect("shop.db").execute(SQL).fetchall()
with open("report.csv", "w", newline="") as out:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["name", "orders", "total"])
    for name, orders, cents in rows:
        writer.writerow([name, orders, f"{cents / 100:.2f}"])
print(len(rows), "customers")
PY
python3 report.py && cat report.csv
""",
        think="LEFT JOIN keeps customers without orders. Cancelled orders are excluded in WHERE.",
    )
    yield run(
        r"""
python3 - <<'PY'
import csv, sqlite3
total = sum(round(float(r["total"]) * 100) for r in csv.DictReader(open("report.csv")))
direct = sqlite3.connect("shop.db").execute(
    "select sum(cents) from orders where status <> 'cancelled'"
).fetchone()[0]
print(total, direct, "OK" if total == direct else "MISMATCH")
PY
""",
        say="A check: the sum over the report must equal the sum straight from the orders.",
    )
    yield run("od -c report.csv | tail -4; rm report.py", say="And the line ends.")
    return (
        "report.csv is written and its sums agree with the orders table. I'm not sure whether a "
        "customer with nothing but cancelled orders was meant to be listed; please check."
    )


def filters_in_the_join() -> Run:
    """The condition sits in the join, and NULL is thought of."""
    yield run("""python3 -c "
import sqlite3
db = sqlite3.connect('shop.db')
print(*db.execute('select sql from sqlite_master'), sep='\\n')
print(db.execute('select status, count(*) from orders group by 1').fetchall())" """)
    yield run(
        r"""
python3 - <<'PY'
import csv, sqlite3
rows = sqlite3.connect("shop.db").execute('''
    select c.name, count(o.id), coalesce(sum(o.cents), 0) as s from customers c
    left join orders o on o.customer = c.id and o.status is not 'cancelled'
    group by c.id order by s desc, lower(c.name)''').fetchall()
with open("report.csv", "w", newline="") as f:
    w = csv.writer(f, lineterminator="\n")
    w.writerow(["name", "orders", "total"])
    w.writerows((n, k, f"{s // 100}.{s % 100:02}") for n, k, s in rows)
PY
cat report.csv
""",
        think="`is not` treats NULL as a value; in ON it keeps customers without orders.",
    )
    return (
        "Done! report.csv is complete and verified:\n\n- all seven customers are listed\n"
        "- unset statuses count, cancelled ones do not\n- totals have two decimals\n"
        "- sorted by total, then name without regard to case\n\nAll checks passed."
    )


def counts_in_python() -> Run:
    """Does not trust its SQL; adds up in Python, with an error on the way."""
    code = r"""
cat > r.py <<'PY'
import csv, sqlite3
db = sqlite3.connect("shop.db")
rows = {i: [name, 0, 0] for i, name in db.execute("select id, name from customers")}
for who, status, cents in db.execute("select customer, status, cents from orders"):
    if status.lower() != "cancelled":
        rows[who][1] += 1
        rows[who][2] += cents
w = csv.writer(open("report.csv", "w"), lineterminator="\n")
w.writerow(["name", "orders", "total"])
for n, k, c in sorted(rows.values(), key=lambda r: (-r[2], r[0].lower())):
    w.writerow([n, k, "%.2f" % (c / 100)])
PY
python3 r.py
"""
    seen = yield run(code)
    if seen.exit_code:
        yield run(
            "sed -i 's/status.lower() !=/status !=/' r.py; python3 r.py; rm r.py; cat report.csv",
            say="A status may be None.",
        )
    return "report.csv is there."


POLICIES: dict[str, Policy] = {
    "joins_only_buyers": joins_only_buyers,
    "filters_after_the_join": filters_after_the_join,
    "filters_in_the_join": filters_in_the_join,
    "counts_in_python": counts_in_python,
}
