"""Bring back two commits lost to `git reset --hard`, beside an amended twin and a conflict."""

import re
from pathlib import Path

from .kit import Policy, Run, bash, must, run, text_of

INSTRUCTION = """
In ./repo somebody ran `git reset --hard` on main, and two commits by Dana were lost: the one that
adds the retry to fetch.sh and the one that describes it in README. Bring both back onto main, on
top of what is there now: as two separate commits, in their original order, with their original
author and messages, and the retry as it was last (Dana had corrected it). Nothing that is on main
now may be lost, and its history stays linear. README must end up with both its usage line and its
retry line. Leave main checked out and the working tree clean.
"""

HISTORY = r"""
git init -q -b main repo && cd repo
dana() { git commit -q --author='Dana Field <dana@example.org>' "$@"; }
echo 'curl -sf "$1"' > fetch.sh && git add . && git commit -q -m 'Add fetch script'
printf '# fetch\n\nFetches one page.\n' > README && git add . && git commit -q -m 'Add readme'
printf 'for i in 1 2; do curl -sf "$1" && break; done\n' > fetch.sh && dana -am 'Add retry to fetch'
printf 'for i in 1 2 3 4 5; do curl -sf "$1" && break; sleep "$i"; done\n' > fetch.sh
dana -a --amend -m 'Add retry to fetch'
echo 'Retries: up to 5.' >> README && dana -am 'Describe the retry in readme'
git reset -q --hard HEAD~2
echo 'Usage: sh fetch.sh URL' >> README && git commit -q -am 'Explain usage in readme'
"""


def setup(work: Path) -> None:
    """Make the history, and lose a part of it."""
    must(work, HISTORY)


def check(work: Path) -> bool:
    """Five linear commits by the right people, the right texts, nothing left over."""
    log = bash(work, "git -C repo log --reverse --format='%an|%s|%p' main").output.splitlines()
    commits = [line.rsplit("|", 1) for line in log]
    wanted = [
        "Agent|Add fetch script",
        "Agent|Add readme",
        "Agent|Explain usage in readme",
        "Dana Field|Add retry to fetch",
        "Dana Field|Describe the retry in readme",
    ]
    readme = text_of(work / "repo" / "README") or ""
    return (
        [commit[0] for commit in commits] == wanted
        and all(len(commit[1].split()) <= 1 for commit in commits)
        and "1 2 3 4 5" in (text_of(work / "repo" / "fetch.sh") or "")
        and sorted(readme.splitlines()[3:]) == ["Retries: up to 5.", "Usage: sh fetch.sh URL"]
        and bash(work, "git -C repo status --porcelain").output == ""
        and bash(work, "git -C repo symbolic-ref --short HEAD").output == "main\n"
    )


def hashes(reflog: str, subject: str) -> list[str]:
    """The short hashes of the reflog lines that name `subject`, newest first."""
    return re.findall(rf"^([0-9a-f]+) .*{re.escape(subject)}$", reflog, re.MULTILINE)


def picks_from_the_reflog() -> Run:
    """Reads the reflog, takes the amended commit, resolves the conflict."""
    seen = yield run("cd repo && git status -sb && git log --oneline && git reflog")
    retry = hashes(seen.output, "Add retry to fetch")[0]
    described = hashes(seen.output, "Describe the retry in readme")[0]
    yield run(
        f"cd repo && git cherry-pick {retry} {described}",
        think=f"{retry} is the amended commit, {described} sits on top of it. Pick both.",
    )
    yield run(
        "cd repo && sed -i '/^[<=>]\\{7\\}/d' README && cat README && git add README && "
        "git -c core.editor=true cherry-pick --continue",
        say="Both sides of the conflict in README should stay.",
    )
    yield run("cd repo && git log --format='%h %an %s' && git status --short")
    return "Both commits are back on main with Dana as their author; README keeps both lines."


def resets_to_the_lost_tip() -> Run:
    """Moves main to the lost commit, and loses what came after the accident."""
    seen = yield run("cd repo && git reflog", say="Lost commits are still in the reflog.")
    tip = hashes(seen.output, "Describe the retry in readme")[0]
    yield run(f"cd repo && git reset --hard {tip} && git log --format='%h %an %s'")
    yield run("cd repo && git status && cat fetch.sh")
    return (
        f"I restored main to `{tip}`, which has both of Dana's commits. I think nothing else was "
        "on main in the meantime, but you may want to compare with a backup."
    )


def merges_the_lost_branch() -> Run:
    """Keeps everything, but with a merge commit."""
    seen = yield run("cd repo && git log --oneline --all && git reflog --date=iso | cat")
    tip = re.findall(r"^([0-9a-f]+) .*Describe the retry", seen.output, re.MULTILINE)[0]
    yield run(
        f"cd repo && git branch rescue {tip} && git log --oneline --graph main rescue",
        say="I put a branch on the lost tip, so that nothing can be collected away.",
    )
    yield run("cd repo && git merge rescue -m 'Bring back the retry'", say="Now join it with main.")
    yield run(
        r"""
cd repo && cat README
printf '# fetch\n\nFetches one page.\nUsage: sh fetch.sh URL\nRetries: up to 5.\n' > README
git add README && git commit -q -m 'Bring back the retry' && git log --oneline --graph
""",
        say="A conflict in README; both lines belong there.",
    )
    yield run("cd repo && git branch -d rescue && git status --short && cat README fetch.sh")
    return (
        "All of Dana's work is back on main.\n\n- fetch.sh has the corrected retry (5 attempts)\n"
        "- README has the usage line and the retry line\n- the tree is clean, nothing was lost"
    )


def takes_the_first_version_and_notices() -> Run:
    """Goes by dangling objects, picks the version before the correction, sees it, starts over."""
    yield run("cd repo && git log --stat | head -40")
    yield run("cd repo && git fsck --lost-found --no-reflogs")
    found = yield run(
        "cd repo && for c in $(ls .git/lost-found/commit); do git log -1 --format='%h %s' $c; "
        "git show $c --format= -- fetch.sh; done",
        think="Two dangling commits. Look at the contents.",
    )
    first = re.findall(r"^([0-9a-f]+) Add retry to fetch$", found.output, re.MULTILINE)[0]
    last = re.findall(r"^([0-9a-f]+) Describe the retry in readme$", found.output, re.MULTILINE)[0]
    yield run(f"cd repo && git cherry-pick {first}")
    seen = yield run(f"cd repo && cat fetch.sh && git cherry-pick {last}")
    if "CONFLICT" in seen.output:
        yield run("cd repo && git diff")
    yield run(
        "cd repo && git cherry-pick --abort; git reset --hard HEAD~1 && git log --oneline",
        say="Wait: README speaks of 5 retries, and the commit I picked has only 2. That is the "
        "version before the correction. Undo, and look at the parent of the readme commit.",
    )
    parent = yield run(f"cd repo && git log --oneline -2 {last} && git show {last}~1 | tail -8")
    good = parent.output.split("\n")[1].split()[0]
    yield run(f"cd repo && git cherry-pick {good}")
    yield run(f"cd repo && git cherry-pick {last}")
    seen = yield run("cd repo && git cherry-pick --continue")
    if seen.exit_code:
        yield run("cd repo && sed -i -E '/^(<{7}|={7}|>{7})/d' README && git add README")
        yield run("cd repo && GIT_EDITOR=true git cherry-pick --continue")
    yield run("cd repo && git status && git log --format='%h %an: %s' && cat README")
    return "main has the corrected retry now, followed by the readme commit."


POLICIES: dict[str, Policy] = {
    "picks_from_the_reflog": picks_from_the_reflog,
    "resets_to_the_lost_tip": resets_to_the_lost_tip,
    "merges_the_lost_branch": merges_the_lost_branch,
    "takes_the_first_version_and_notices": takes_the_first_version_and_notices,
}
