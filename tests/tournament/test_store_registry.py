"""Registrations: each version once, whoever registers; withdrawn, paused, tokens; any database."""

import hashlib
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scale import repeatable
from tests.tournament.conftest import Place
from tests.tournament.fakes import entry, store_plan
from tournament.errors import UsageError
from tournament.store.registry import Registration, Registry, outside_hash
from tournament.store.store import Store
from tournament.store.stored import Entry


def _version(bot: str, version: str, content: str = "") -> Entry:
    text = f"{bot} {version} {content}"
    return replace(
        entry(bot), version=version, content_hash=hashlib.sha256(text.encode()).hexdigest()
    )


def _texts(found: list[Registration]) -> list[str]:
    return [f"{one.bot} {one.version}" for one in found]


def test_what_is_registered_is_there_again(place: Place) -> None:
    wanted = replace(_version("one", "1.0 β"), author="Ž", manifest={"run": ["x"], "limits": {}})
    with place.open() as store:
        made = Registry(store).register(wanted, is_elsewhere=False, is_untrusted=True)
    with place.view() as store:
        registry = Registry(store)
        assert registry.all() == registry.of("one") == [made]
        assert registry.newest("one") == made
    assert (made.bot, made.version, made.author, made.language) == ("one", "1.0 β", "Ž", "python")
    assert made.content_hash == wanted.content_hash
    assert made.manifest.items() >= wanted.manifest.items()
    assert (made.is_elsewhere, made.is_untrusted) == (False, True)
    assert made.withdrawn is made.paused is made.token_key is None


def test_the_same_content_is_the_same_version(store: Store) -> None:
    registry = Registry(store)
    made = registry.register(_version("one", "1"), is_elsewhere=False)
    assert registry.register(_version("one", "1"), is_elsewhere=False) == made
    registry.withdraw("one")
    again = registry.register(_version("one", "1"), is_elsewhere=False)
    assert again.withdrawn is not None
    assert registry.newest("one") is None


def test_a_mark_of_being_untrusted_stays(store: Store) -> None:
    registry = Registry(store)
    registry.register(_version("one", "1"), is_elsewhere=False)
    marked = registry.register(_version("one", "1"), is_elsewhere=False, is_untrusted=True)
    assert marked.is_untrusted
    assert registry.register(_version("one", "1"), is_elsewhere=False).is_untrusted
    assert [one.is_untrusted for one in registry.all()] == [True]


def test_a_version_has_one_content(store: Store) -> None:
    registry = Registry(store)
    registry.register(_version("one", "1"), is_elsewhere=False)
    registry.register(_version("one", "2"), is_elsewhere=False)
    registry.register(_version("two", "1", "other"), is_elsewhere=False)
    registry.withdraw("one", "1")
    with pytest.raises(UsageError, match=r"one has a version '1' already.*taken are 1, 2"):
        registry.register(_version("one", "1", "other"), is_elsewhere=False)
    assert _texts(registry.all(with_withdrawn=True)) == ["one 1", "one 2", "two 1"]


def test_author_and_language_are_those_of_the_version(store: Store) -> None:
    registry = Registry(store)
    registry.register(_version("one", "1"), is_elsewhere=False)
    later = replace(_version("one", "2"), author="another", language="rust")
    registry.register(later, is_elsewhere=False)
    outside = replace(
        later, version="3", content_hash=outside_hash("one", "3"), manifest={"elsewhere": True}
    )
    registry.register(outside, is_elsewhere=True)
    told = [(one.version, one.author, one.language) for one in registry.all()]
    assert told == [
        ("1", "somebody", "python"), ("2", "another", "rust"), ("3", "another", "rust"),
    ]  # fmt: skip


def test_what_played_before_it_was_registered_keeps_its_row(store: Store) -> None:
    store_plan(store)
    registry = Registry(store)
    made = registry.register(entry("a"), is_elsewhere=False)
    assert made.content_hash == entry("a").content_hash
    assert [one.bot for one in store.entries("t1")] == ["a", "b", "c"]
    assert _texts(registry.all()) == ["a 1.0"]


def test_withdrawing(store: Store) -> None:
    registry = Registry(store)
    for bot, version in (("one", "1"), ("one", "2"), ("one", "3"), ("two", "1")):
        registry.register(_version(bot, version), is_elsewhere=False)
    assert _texts(registry.withdraw("one", "3")) == ["one 3"]
    newest = registry.newest("one")
    assert newest is not None
    assert newest.version == "2"
    assert registry.withdraw("one", "3") == []
    first = registry.of("one")[2].withdrawn
    assert _texts(registry.withdraw("one")) == ["one 1", "one 2"]
    assert registry.withdraw("one") == []
    assert registry.of("one")[2].withdrawn == first
    assert _texts(registry.all()) == ["two 1"]
    assert len(registry.all(with_withdrawn=True)) == 4
    with pytest.raises(UsageError, match="one has no version '4': submitted are 1, 2, 3"):
        registry.withdraw("one", "4")
    with pytest.raises(UsageError, match="no bot 'three' was submitted: submitted are one, two"):
        registry.withdraw("three")
    assert registry.newest("three") is None


def test_tokens_and_pauses(store: Store) -> None:
    registry = Registry(store)
    hash_of = outside_hash("one", "1")
    outside = replace(_version("one", "1"), content_hash=hash_of, manifest={"elsewhere": True})
    registry.register(outside, is_elsewhere=True, token_key="k1")
    other = registry.register(_version("two", "1"), is_elsewhere=False)
    registry.set_token(hash_of, "k2")
    registry.pause(hash_of, "failed\0 often")
    [made] = registry.of("one")
    assert (made.token_key, made.paused, made.is_elsewhere) == ("k2", "failed� often", True)
    registry.pause(hash_of, None)
    assert registry.of("one")[0].paused is None
    assert registry.of("two") == [other]
    for change in (registry.set_token, registry.pause):
        with pytest.raises(UsageError, match="no bot with the content 'nothing' was submitted"):
            change("nothing", "k3")


_BOTS, _VERSIONS, _CONTENTS = st.sampled_from("ab"), st.sampled_from("12"), st.sampled_from("xy")


@repeatable
@settings(max_examples=30)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("register"), _BOTS, _VERSIONS, _CONTENTS, st.booleans()),
            st.tuples(st.just("withdraw"), _BOTS, st.one_of(st.none(), _VERSIONS)),
        ),
        max_size=12,
    )
)
def test_a_registry_does_what_a_list_would_do(steps: list[tuple[Any, ...]]) -> None:
    """Against a plain list of what is registered, in the order in which it came."""
    known: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        registry = Registry(store)
        for verb, bot, version, *rest in steps:
            if verb == "register":
                wanted = _version(bot, version, rest[0])
                taken = [one for one in known if (one["bot"], one["version"]) == (bot, version)]
                if taken and taken[0]["content"] != wanted.content_hash:
                    with pytest.raises(UsageError, match="already, whose content is another"):
                        registry.register(wanted, is_elsewhere=False, is_untrusted=rest[1])
                    continue
                if not taken:
                    row = {"bot": bot, "version": version, "content": wanted.content_hash}
                    taken = [row | {"untrusted": False, "withdrawn": False}]
                    known += taken
                taken[0]["untrusted"] |= rest[1]
                registry.register(wanted, is_elsewhere=False, is_untrusted=rest[1])
                continue
            chosen = [
                one for one in known if one["bot"] == bot and version in (None, one["version"])
            ]
            if not chosen:
                with pytest.raises(UsageError, match=r"was submitted|has no version"):
                    registry.withdraw(bot, version)
                continue
            fresh = [one["version"] for one in chosen if not one["withdrawn"]]
            assert [one.version for one in registry.withdraw(bot, version)] == fresh
            for one in chosen:
                one["withdrawn"] = True
        assert [
            {
                "bot": one.bot,
                "version": one.version,
                "content": one.content_hash,
                "untrusted": one.is_untrusted,
                "withdrawn": one.withdrawn is not None,
            }
            for one in registry.all(with_withdrawn=True)
        ] == sorted(known, key=lambda one: str(one["bot"]))
        for bot in "ab":
            there = [one for one in known if one["bot"] == bot and not one["withdrawn"]]
            newest = registry.newest(bot)
            assert (newest and newest.version) == (there[-1]["version"] if there else None)


@repeatable
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2", "1\n"])), unique=True),
)
def test_no_two_outsiders_share_a_content(pairs: list[tuple[str, str]]) -> None:
    assert len({outside_hash(*pair) for pair in pairs}) == len(pairs)


def test_names_and_versions_do_not_run_into_each_other() -> None:
    assert outside_hash("ab", "c") != outside_hash("a", "bc")
    assert len(outside_hash("ab", "c")) == 64


def test_many_who_register_at_once(place: Place) -> None:
    """Six of them with one version of one bot, two contents: one content is registered, once."""
    place.open().close()
    outcomes: list[str] = []

    def register(content: str, own: str) -> None:
        with place.open() as store:
            registry = Registry(store)
            registry.register(_version("one", own), is_elsewhere=False)
            try:
                made = registry.register(_version("one", "1", content), is_elsewhere=False)
            except UsageError:
                outcomes.append("refused")
            else:
                outcomes.append(made.content_hash)

    threads = [
        threading.Thread(target=register, args=("ab"[number % 2], f"own {number}"))
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with place.view() as store:
        found = Registry(store).all()
    [one] = [item for item in found if item.version == "1"]
    assert len(outcomes) == 6
    assert set(outcomes) == {"refused", one.content_hash}
    assert outcomes.count("refused") == 3
    assert {item.version for item in found} == {"1"} | {f"own {number}" for number in range(6)}
