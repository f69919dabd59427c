"""Access lists and scopes: what is understood, and that no mistake opens anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.acl import both, check_declared, parse_acl
from ingest.errors import InvalidRequest, LoadError
from ingest.loaders import load_bytes
from ingest.scope import EVERYONE, LOCAL, Scope

NAMES = st.sampled_from(["user:ann", "user:bob", "group:hr", "group:it"])
LISTS = st.lists(NAMES, max_size=4) | st.just([EVERYONE])


def test_an_access_list_names_users_groups_or_everyone() -> None:
    assert parse_acl(["group:hr", "user:Ann B. <a@b>", "group:hr"]) == [
        "group:hr",
        "user:Ann B. <a@b>",
    ]
    assert parse_acl(["group:hr", "*"]) == [EVERYONE]


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [""],
        ["hr"],
        ["group:"],
        ["group: hr"],
        ["Group:hr"],
        ["group:hr,user:x"],
        ["user:a\x00"],
        ["user:a\u202eb"],
        ["user:\ud800"],
        ["**"],
        ["role:hr"],
        ['{"$ne": ""}'],
        ["user:" + "n" * 201],
        [f"user:{n}" for n in range(101)],
    ],
)
def test_a_list_that_is_not_understood_is_refused(entries: list[str]) -> None:
    with pytest.raises(InvalidRequest):
        parse_acl(entries)


@given(one=LISTS, other=LISTS, principals=st.lists(NAMES, max_size=4))
def test_both_admits_nobody_whom_one_of_them_does_not(
    one: list[str], other: list[str], principals: list[str]
) -> None:
    scope = Scope("t", principals)
    if scope.may_read(both(one, other)):
        assert scope.may_read(one) and scope.may_read(other)
    if EVERYONE in other:
        assert both(one, other) == one and both(other, one) == one


@given(mine=st.lists(NAMES), others=st.lists(NAMES), acl=LISTS)
def test_who_covers_another_may_read_all_that_it_may(
    mine: list[str], others: list[str], acl: list[str]
) -> None:
    one, other = Scope("t", mine), Scope("t", others)
    if one.covers(other) and other.may_read(acl):
        assert one.may_read(acl)
    assert not Scope("u", mine).covers(other)


def test_a_thread_belongs_to_its_user_whatever_the_groups() -> None:
    ann = Scope("t", ["user:ann"])
    assert LOCAL.conversation("a") == "local/a"
    assert ann.conversation("a") == Scope("t", ["user:ann", "group:hr"]).conversation("a")
    others = [Scope("t"), Scope("u", ["user:ann"]), Scope("t", ["user:bob"])]
    others += [Scope("t", ["group:user:ann"]), Scope("t", ["group:hr"])]
    assert len({ann.conversation("a"), *(other.conversation("a") for other in others)}) == 6


def test_a_fingerprint_is_that_of_what_may_be_seen() -> None:
    assert Scope("t", ["a", "b"]).fingerprint == Scope("t", ["b", "a", "a"]).fingerprint
    different = [Scope("t"), Scope("u"), Scope("t", ["a"]), Scope("t", ["b"]), Scope("ta")]
    assert len({scope.fingerprint for scope in different}) == 5


def declared(front_matter: str) -> dict[str, str]:
    return load_bytes("a.md", f"---\n{front_matter}\n---\n# A\n\nText.\n".encode()).metadata


@pytest.mark.parametrize(
    ("line", "acl"),
    [
        ("acl: group:hr", "group:hr"),
        ("acl: [group:hr, 'user:Ann']", "group:hr,user:Ann"),
        ("ACL: 'group:hr, user:Ann'", "group:hr,user:Ann"),
        ("acl: '*'", "*"),
    ],
)
def test_a_document_names_its_readers(line: str, acl: str) -> None:
    found = declared(line)
    check_declared(found)
    assert found["acl"] == acl


@pytest.mark.parametrize(
    "lines",
    [
        "acl: hr",
        "acl:",
        "acl: []",
        "acl: *",
        "acl: {$ne: ''}",
        "acl: [group:hr, {a: b}]",
        "acl: group:hr\ntitle: [broken",
        "title: [broken\n'acl': group:hr",
        "acl: " + ",".join(f"user:{n}" for n in range(101)),
    ],
)
def test_a_document_whose_readers_are_not_understood_is_not_taken(lines: str) -> None:
    with pytest.raises(LoadError) as refused:
        check_declared(declared(lines))
    assert refused.value.code == "invalid_acl"


def test_a_long_list_of_readers_is_not_cut() -> None:
    entries = ",".join(f"group:{'g' * 60}-{n}" for n in range(20))
    assert declared(f"acl: {entries}")["acl"] == entries
