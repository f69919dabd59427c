"""What every KeyStore must do, and what keys are: SQLite in a file, and a real PostgreSQL."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.adapters.key_rows import KEYS
from api.adapters.sql_keys import SqlKeys
from api.keys import Key, KeyStore, key_for, new_key, revoke, rotate, store_key
from ingest.adapters.postgres_database import PostgresDatabase
from ingest.database import open_database
from ingest.errors import DependencyError, InvalidRequest, NotFound
from ingest.settings import DatabaseSettings

WRITTEN = "crag_0123456789ab_{}"
DAY = timedelta(days=1)
Open = Callable[[], KeyStore]


@pytest.fixture(params=["sqlite", "postgres"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Opens the same keys again and again, as several processes do."""
    opened: list[KeyStore] = []
    database = DatabaseSettings()
    if request.param == "postgres":
        database = DatabaseSettings(url=request.getfixturevalue("postgres_server").new_database())

    def open_() -> KeyStore:
        opened.append(SqlKeys(open_database(database, tmp_path, KEYS)))
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Open) -> KeyStore:
    return open_store()


def made(
    store: KeyStore, tenant: str = "acme", lifetime: timedelta | None = None
) -> tuple[Key, str]:
    key = new_key(
        tenant,
        name="ünï; DROP TABLE api_keys",
        user="o'brien",
        groups=["hr", "it"],
        scopes=["admin", "ask"],
        lifetime=lifetime,
    )
    return key, store_key(store, key)


def test_a_key_opens_what_it_was_made_for_in_every_process(open_store: Open) -> None:
    key, told = made(open_store(), lifetime=DAY)
    assert key_for(open_store(), told) == key
    assert key.scope.tenant == "acme"
    assert key.scope.principals == ["user:o'brien", "group:hr", "group:it"]
    assert key.scopes == ["ask", "admin"]


def test_only_a_digest_is_kept(store: KeyStore, tmp_path: Path) -> None:
    key, told = made(store)
    found = store.find(key.key_id)
    assert found is not None
    secret = told.removeprefix(f"crag_{key.key_id}_")
    assert len(secret) == 43 and secret not in repr(found)
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_nothing_else_opens(store: KeyStore) -> None:
    key, told = made(store)
    other, other_told = made(store, "globex")
    swapped = f"crag_{key.key_id}_{other_told.removeprefix(f'crag_{other.key_id}_')}"
    for text in ("", "crag_", told[:-1], told + "A", told.upper(), f" {told}", swapped, key.key_id):
        assert key_for(store, text) is None


@settings(max_examples=30)
@given(text=st.text(max_size=80) | st.text("abc_-", min_size=43, max_size=43).map(WRITTEN.format))
def test_no_text_opens_by_chance(text: str) -> None:
    class Empty:
        def find(self, key_id: str) -> None:
            return None

    assert key_for(Empty(), text) is None  # type: ignore[arg-type]


def test_a_revoked_key_ends_at_once_and_stays_in_the_list(open_store: Open) -> None:
    key, told = made(open_store())
    revoked = revoke(open_store(), f"crag_{key.key_id}")
    reader = open_store()
    assert key_for(reader, told) is None
    assert reader.listed() == [revoked]
    assert reader.any()
    assert revoke(reader, key.key_id) == revoked


def test_a_key_ends_with_its_time(store: KeyStore) -> None:
    key, told = made(store, lifetime=timedelta(seconds=-1))
    assert key_for(store, told) is None
    assert key.state(datetime.now(UTC) - DAY) == "live"


def test_a_rotated_key_lives_for_the_grace_and_no_longer(store: KeyStore) -> None:
    key, told = made(store, lifetime=90 * DAY)
    new, new_told = rotate(store, key.key_id, DAY)
    old = key_for(store, told)
    assert old is not None and old.replaced_by == new.key_id
    assert old.expires_at is not None
    left = datetime.fromisoformat(old.expires_at) - datetime.now(UTC)
    assert timedelta(hours=23) < left <= DAY
    found = key_for(store, new_told)
    assert found is not None
    assert (found.scope, found.scopes, found.replaced_by) == (key.scope, key.scopes, None)
    assert found.expires_at is not None
    assert datetime.fromisoformat(found.expires_at) - datetime.now(UTC) > 89 * DAY


def test_a_grace_does_not_lengthen_a_life(store: KeyStore) -> None:
    key, _ = made(store, lifetime=timedelta(hours=1))
    rotate(store, key.key_id, 7 * DAY)
    found = store.find(key.key_id)
    assert found is not None and found[0].expires_at == key.expires_at


def test_no_grace_ends_the_old_key_now(store: KeyStore) -> None:
    key, told = made(store)
    rotate(store, key.key_id, timedelta())
    assert key_for(store, told) is None


def test_a_dead_or_replaced_key_is_not_rotated(store: KeyStore) -> None:
    key, _ = made(store)
    rotate(store, key.key_id, DAY)
    with pytest.raises(InvalidRequest, match="was replaced"):
        rotate(store, key.key_id, DAY)
    revoke(store, key.key_id)
    with pytest.raises(InvalidRequest, match="is revoked"):
        rotate(store, key.key_id, DAY)
    with pytest.raises(NotFound):
        rotate(store, "' OR 1=1 --", DAY)


def test_tenants_are_listed_apart(store: KeyStore) -> None:
    assert not store.any() and store.listed() == []
    mine, _ = made(store)
    other, _ = made(store, "globex")
    assert store.listed("acme") == [mine]
    assert {key.key_id for key in store.listed()} == {mine.key_id, other.key_id}
    assert store.listed("acme' OR '1'='1") == []


def test_processes_and_threads_write_side_by_side(open_store: Open) -> None:
    def write(store: KeyStore) -> None:
        for _ in range(10):
            made(store)

    stores = [open_store() for _ in range(3)]
    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stores[0].listed()) == 30


@pytest.mark.parametrize(
    "bad",
    [
        {"tenant": ""},
        {"tenant": "../x"},
        {"tenant": "а" * 3},  # Cyrillic
        {"tenant": "a\n"},
        {"scopes": ["ask", "root"]},
        {"scopes": []},
        {"user": "a,group:hr"},
        {"groups": ["hr\x00"]},
        {"groups": [" hr"]},
    ],
)
def test_a_name_that_could_be_read_as_another_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        new_key(**bad)  # type: ignore[arg-type]


def test_a_file_that_was_taken_away_fails_closed(tmp_path: Path) -> None:
    store = SqlKeys(open_database(DatabaseSettings(), tmp_path, KEYS))
    _, told = made(store)
    store.close()
    with pytest.raises(DependencyError):
        key_for(store, told)


def test_a_database_that_is_away_fails_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.adapters.postgres_database.TIMEOUT_S", 1)
    store = SqlKeys(PostgresDatabase("postgresql:///none?host=/nowhere", KEYS))
    with pytest.raises(DependencyError):
        key_for(store, f"crag_{'0' * 12}_{'A' * 43}")
    store.close()


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_database(DatabaseSettings(), tmp_path, KEYS).close()
    assert (tmp_path / KEYS.file).stat().st_mode & 0o077 == 0


def test_keys_of_a_version_without_limits_go_on(open_store: Open) -> None:
    key, told = made(open_store())
    store = open_store()
    with store._database.transaction() as db:  # type: ignore[attr-defined]
        db.execute('ALTER TABLE api_keys DROP COLUMN "limits"')
    assert key_for(open_store(), told) == key
    other, other_told = made(open_store())
    assert key_for(open_store(), other_told) == other
