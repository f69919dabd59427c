"""Where records are kept: files of the data folder (SQLite), or a PostgreSQL that processes share.

Both run the same SQL, in words that both know, with a `?` for each value.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ingest.settings import DatabaseSettings


@dataclass(frozen=True)
class Tables:
    """What one store keeps, made where it is missing.

    `what` is its name in messages, `file` the one in a data folder. `added` names, for tables that
    earlier versions made, a column with its definition. `rowid INTEGER PRIMARY KEY` counts the rows
    in the order of their coming. `pragmas` are SQLite's; `hint` is said of a file that is none.
    `statement_s` are the seconds that PostgreSQL may take for one statement.
    """

    what: str
    file: str
    schema: str
    added: tuple[tuple[str, str], ...] = ()
    pragmas: tuple[str, ...] = ()
    hint: str = ""
    statement_s: int = 5


class Rows(Protocol):
    """What a statement has found or done."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class Transaction(Protocol):
    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Rows: ...

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object: ...


class Database(Protocol):
    """Calls block for some milliseconds. Safe under threads."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """All that is done in it, or nothing. Raises DependencyError."""

    def take(self, name: str) -> bool:
        """Whether this process, and no other, has the name until it lets go of it or ends; one
        caller of a process at a time. Raises DependencyError."""

    def let_go(self, name: str) -> None:
        """Of a name that it may have."""

    def check_space(self) -> None:
        """Raises ConfigurationError where a large write would find no room."""

    def reclaim(self) -> None:
        """Gives the room of what was deleted back."""

    def is_subset(self, column: str) -> str:
        """A condition with one value: the JSON list of the column has nothing that it has not."""

    def list_length(self, column: str, key: str) -> str:
        """The number of entries under a key of the column's JSON."""

    def close(self) -> None: ...


def open_database(settings: DatabaseSettings, folder: Path, tables: Tables) -> Database:
    """The PostgreSQL that the settings name, which is connected to when it is first asked, or the
    file in the folder. Raises ConfigurationError."""
    if settings.url is not None:
        from ingest.adapters.postgres_database import PostgresDatabase

        return PostgresDatabase(settings.url.get_secret_value(), tables)
    from ingest.adapters.sqlite_database import SqliteDatabase

    return SqliteDatabase(folder / tables.file, tables)
