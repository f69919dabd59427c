"""A key as a row of a table, the same in every database."""

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from api.keys import Key
from ingest.database import Tables

NAMES = [field.name for field in fields(Key)]
JSON = ("groups", "scopes", "limits")
COLUMNS = ", ".join(f'"{name}"' for name in NAMES)
"""Quoted: `user` is a word of SQL."""
INTO = f"INSERT INTO api_keys ({COLUMNS}, digest) VALUES ({', '.join('?' * (len(NAMES) + 1))})"

KEYS = Tables(
    "the API keys",
    "keys.sqlite",
    "CREATE TABLE IF NOT EXISTS api_keys (key_id TEXT PRIMARY KEY, "
    + ", ".join(f'"{name}" TEXT' for name in NAMES[1:])
    + ", digest TEXT NOT NULL)",
    added=(("api_keys", "\"limits\" TEXT NOT NULL DEFAULT '{}'"),),
    pragmas=("synchronous = FULL",),
)


def row_of(key: Key) -> list[Any]:
    values = [getattr(key, name) for name in NAMES]
    return [json.dumps(value) if isinstance(value, list | dict) else value for value in values]


def key_of(row: Sequence[Any]) -> Key:
    values = dict(zip(NAMES, row, strict=True))
    return Key(**values | {name: json.loads(values[name]) for name in JSON})
