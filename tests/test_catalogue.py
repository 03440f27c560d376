"""Names of pools: where they are looked up, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from bestofn.catalogue import entries, load_pool, register, registry_file, unregister
from bestofn.errors import PoolError, UsageError


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No folder of pools, and a registry of this test's own."""
    monkeypatch.delenv("BESTOFN_POOLS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_a_path_is_a_pool(tmp_path: Path) -> None:
    """An existing directory needs no name."""
    assert load_pool(tmp_path).root == tmp_path


def test_a_folder_of_pools_comes_before_the_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same name in both places leads into the folder of BESTOFN_POOLS."""
    there, registered = tmp_path / "pools" / "g" / "p", tmp_path / "else"
    there.mkdir(parents=True)
    registered.mkdir()
    register("g/p", registered)
    assert load_pool("g/p").root == registered
    monkeypatch.setenv("BESTOFN_POOLS", str(tmp_path / "pools"))
    assert load_pool("g/p").root == there


def test_several_folders_of_pools_are_searched_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BESTOFN_POOLS is a list like PATH; missing folders in it are passed over."""
    second = tmp_path / "b" / "g" / "p"
    second.mkdir(parents=True)
    monkeypatch.setenv("BESTOFN_POOLS", f"{tmp_path / 'missing'}:{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert load_pool("g/p").root == second
    assert [entry.name for entry in entries()] == ["g/p", "demo"]


def test_a_folder_that_holds_recordings_itself_is_a_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder of pools, `name` with files is a pool, `group` with folders holds pools."""
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "run.jsonl").write_text("{}\n")
    (tmp_path / "group" / "one").mkdir(parents=True)
    monkeypatch.setenv("BESTOFN_POOLS", str(tmp_path))
    assert [entry.name for entry in entries()] == ["flat", "group/one", "demo"]


def test_a_name_cannot_climb_out_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`..` in a name is not followed."""
    (tmp_path / "pools").mkdir()
    (tmp_path / "secret").mkdir()
    monkeypatch.setenv("BESTOFN_POOLS", str(tmp_path / "pools"))
    with pytest.raises(PoolError, match=r"no pool '\.\./secret'"):
        load_pool("../secret")


def test_a_registered_pool_that_moved_says_so(tmp_path: Path) -> None:
    """The error names the place and how to register the new one."""
    place = tmp_path / "runs"
    place.mkdir()
    register("mine", place)
    place.rmdir()
    with pytest.raises(
        PoolError, match=r"pool 'mine' leads to .*runs, which is not there.*bestofn pools add mine PATH"
    ):
        load_pool("mine")


def test_registering_refuses_bad_names_and_missing_places(tmp_path: Path) -> None:
    """A name must not look like a path, nor be that of the demo; a place must be there."""
    for name in ("", "/x", "../x", ".x", "demo", "x/", "a//b", "a/./b"):
        with pytest.raises(UsageError, match="cannot name a pool"):
            register(name, tmp_path)
    with pytest.raises(PoolError, match="is not there"):
        register("mine", tmp_path / "missing")


def test_forgetting_an_unknown_name_lists_the_known(tmp_path: Path) -> None:
    """`unregister` names what the registry has."""
    register("mine", tmp_path)
    with pytest.raises(UsageError, match=r"no registered pool 'yours': .* has mine"):
        unregister("yours")


def test_a_broken_registry_is_an_error_with_its_place() -> None:
    """A registry that is no TOML is named, not ignored."""
    registry_file().parent.mkdir(parents=True)
    registry_file().write_text("[pools\n")
    with pytest.raises(PoolError, match=r"pools\.toml is not readable as TOML"):
        load_pool("anything")


def test_an_unknown_format_lists_the_known(tmp_path: Path) -> None:
    """`format` is checked before anything is read."""
    with pytest.raises(UsageError, match="no format 'xml': there are harbor, terminal-bench, atif"):
        load_pool(tmp_path, format="xml")


def test_a_name_that_would_never_be_looked_up_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of BESTOFN_POOLS hides a registered name, so such a name is not taken."""
    (tmp_path / "pools" / "tb2" / "mine").mkdir(parents=True)
    monkeypatch.setenv("BESTOFN_POOLS", str(tmp_path / "pools"))
    with pytest.raises(UsageError) as error:
        register("tb2/mine", tmp_path)
    there = tmp_path / "pools" / "tb2" / "mine"
    assert str(error.value) == (
        f"'tb2/mine' is taken: BESTOFN_POOLS is looked at first, and there it is {there}; take another name"
    )
    assert not registry_file().exists()


def test_a_registered_name_is_replaced_only_on_request(tmp_path: Path) -> None:
    """The same place again is no change; another place needs `replace`."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    register("mine", old)
    register("mine", old)
    with pytest.raises(UsageError, match=r"'mine' is .*old already: take another name, or give --replace"):
        register("mine", new)
    assert load_pool("mine").root == old
    register("mine", new, replace=True)
    assert load_pool("mine").root == new


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "a\x1b[31m", "a\x00", " a", "a ", "\u202ea"])
def test_a_name_holds_no_control_character(tmp_path: Path, name: str) -> None:
    """It would break every listing; the error shows the name escaped."""
    with pytest.raises(UsageError) as error:
        register(name, tmp_path)
    assert str(error.value).startswith(f"{name!r} cannot name a pool")
    assert str(error.value).isprintable()


def test_a_path_in_the_working_directory_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder called like a registered or built-in pool is the pool."""
    monkeypatch.chdir(tmp_path)
    assert load_pool("demo").root != Path("demo")
    (tmp_path / "demo").mkdir()
    assert load_pool("demo").root == Path("demo")


def test_a_folder_with_endings_in_capitals_holds_recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endings that make a folder a pool count in any case, packed ones too."""
    for name, file in (("flat", "RUN.JSONL"), ("packed", "run.jsonl.gz")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text("{}\n")
    monkeypatch.setenv("BESTOFN_POOLS", str(tmp_path))
    assert [entry.name for entry in entries()] == ["flat", "packed", "demo"]
