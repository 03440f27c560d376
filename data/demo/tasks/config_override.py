"""Find which of several configuration files decides: reading order, case, and taking back."""

import json
from pathlib import Path

from .kit import Policy, Run, run, text_of, write

INSTRUCTION = """
LOADING.txt says how the service reads its configuration. Find out what the service really uses for
pool_size, timeout and host of section db, and which file each value comes from. Write answer.json:
an object with the three keys in lower case, each an object with `value` (a string) and `file` (the
path as in LOADING.txt, such as base.ini or conf.d/x.ini).
"""

FILES = {
    "LOADING.txt": """The service reads base.ini, then every file conf.d/*.ini in byte order of its
name, then host.ini. Other files are ignored. A later file wins. Sections and keys
do not depend on case, values do. A key with nothing after `=` takes the setting
back to what base.ini says.
""",
    "base.ini": "[db]\npool_size = 5\ntimeout = 30\nhost = db.internal\n\n[web]\ntimeout = 10\n",
    "conf.d/10-db.ini": "[db]\npool_size = 12\ntimeout = 45\n",
    "conf.d/9-db.ini": "[DB]\nPool_Size = 20\n\n[web]\npool_size = 99\n",
    "conf.d/95-ops.ini.off": "[db]\npool_size = 64\nhost = db.ops\n",
    "conf.d/Team.ini": "[db]\nhost = Db.Team\ntimeout = 60\n",
    "host.ini": "[web]\nhost = web7\n\n[Db]\ntimeout =\n",
}

WANTED = {
    "pool_size": {"value": "20", "file": "conf.d/9-db.ini"},
    "timeout": {"value": "30", "file": "base.ini"},
    "host": {"value": "Db.Team", "file": "conf.d/Team.ini"},
}


def setup(work: Path) -> None:
    """Write the files."""
    for name, text in FILES.items():
        write(work / name, text)


def check(work: Path) -> bool:
    """The answer is the wanted object."""
    try:
        return bool(json.loads(text_of(work / "answer.json") or "null") == WANTED)
    except json.JSONDecodeError:
        return False


def reads_and_writes() -> Run:
    """Prints everything, thinks, writes the answer."""
    yield run("tail -n +1 LOADING.txt base.ini conf.d/* host.ini")
    yield run(
        r"""
cat > answer.json <<'JSON'
{"pool_size": {"value": "20", "file": "conf.d/9-db.ini"},
 "timeout": {"value": "30", "file": "base.ini"},
 "host": {"value": "Db.Team", "file": "conf.d/Team.ini"}}
JSON
""",
        think="Byte order: 10-db, 9-db, Team. pool_size: 12 then 20. timeout: 45, 60, then taken "
        "back by host.ini: 30 from base. host: Db.Team; the .off file does not count.",
    )
    return (
        "answer.json is complete and correct:\n\n- pool_size is 20, from conf.d/9-db.ini\n"
        "- timeout is 30, from base.ini\n- host is Db.Team, from conf.d/Team.ini\n\n"
        "Every file was taken into account in the right order."
    )


def writes_a_loader() -> Run:
    """Programs what LOADING.txt says."""
    yield run("cat LOADING.txt; ls -A . conf.d", say="First the rules.")
    yield run(
        r"""
python3 - <<'PY'
import configparser, json, os
names = sorted("conf.d/" + n for n in os.listdir("conf.d") if n.endswith(".ini"))
found, base = {}, {}
for name in ["base.ini", *names, "host.ini"]:
    parser = configparser.ConfigParser()
    parser.read(name)
    for section in parser.sections():
        for key, value in parser[section].items():
            if section.lower() == "db":
                found[key] = {"value": value, "file": name} if value else base[key]
    base = base or dict(found)
json.dump(found, open("answer.json", "w"), indent=1)
PY
cat answer.json
"""
    )
    return "answer.json is written, but I only trust the loader as far as I understood LOADING.txt."


def orders_by_number_at_first() -> Run:
    """Greps, takes 9 before 10, and finds its slip when it reads the rules again."""
    yield run("grep -rn pool_size . | sort")
    yield run("grep -rni -e timeout -e host *.ini conf.d | sort")
    yield run(
        r"""
python3 -c "
import json
json.dump({'pool_size': {'value': '12', 'file': 'conf.d/10-db.ini'},
           'timeout': {'value': '60', 'file': 'conf.d/Team.ini'},
           'host': {'value': 'Db.Team', 'file': 'conf.d/Team.ini'}}, open('answer.json', 'w'))"
""",
        think="9 before 10, so 10-db.ini wins for pool_size.",
    )
    yield run("cat LODING.txt", say="Let me hold that against the rules.")
    yield run("cat LOADING.txt; cat host.ini")
    yield run(
        r"""
sed -i -e 's/"12"/"20"/' -e 's/10-db/9-db/' \
  -e 's|"60", "file": "conf.d/Team.ini"|"30", "file": "base.ini"|' answer.json; cat answer.json
""",
        say="Byte order puts `10-` before `9-`. And host.ini takes timeout back to base.ini.",
    )
    return "Corrected answer.json after reading the rules properly."


def ends_without_a_word() -> Run:
    """Looks at each file by itself, does the work, and is gone."""
    yield run("cat LOADING.txt; ls conf.d", think="What are the rules here?")
    yield run("cat base.ini", say="The base comes first.")
    yield run('cd conf.d && for f in 10-db.ini 9-db.ini Team.ini; do echo "# $f"; cat $f; done')
    yield run("cat host.ini; cat conf.d/95-ops.ini.off", say="host.ini comes last.")
    yield run(
        r"""
python3 - <<'PY'
import json
answer = {
    "pool_size": dict(value="20", file="conf.d/9-db.ini"),
    "timeout": dict(value="30", file="base.ini"),
    "host": dict(value="Db.Team", file="conf.d/Team.ini"),
}
open("answer.json", "w").write(json.dumps(answer))
PY
""",
        think="pool_size 5, 12, 20. timeout 30, 45, 60, and host.ini empties it: 30 again. "
        "host db.internal, then Db.Team; web7 belongs to section web.",
    )
    yield run("cat answer.jsn", say="Let me read the file back.")
    return None


POLICIES: dict[str, Policy] = {
    "reads_and_writes": reads_and_writes,
    "writes_a_loader": writes_a_loader,
    "orders_by_number_at_first": orders_by_number_at_first,
    "ends_without_a_word": ends_without_a_word,
}
