"""Document records in a database: which revision of each document is live, and its text."""

import json
import time
from collections.abc import Sequence

from ingest.adapters.record_rows import (
    BASE_COLUMNS,
    DOCUMENT_COLUMNS,
    PUT_DOCUMENT,
    base_of,
    base_row,
    document_of,
    document_row,
)
from ingest.database import Database, Transaction
from ingest.errors import DependencyError, InvalidRequest, UnknownKnowledgeBase
from ingest.ports import DocumentRecord, KnowledgeBase


class SqlRecords:
    """Every change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create_knowledge_base(self, tenant: str, base: KnowledgeBase) -> None:
        with self._database.transaction() as db:
            made = db.execute(
                f"INSERT INTO knowledge_bases (tenant, {BASE_COLUMNS}, changes) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, name) DO NOTHING",
                # Microseconds: a base made anew begins above where the deleted one ended.
                (tenant, *base_row(base), time.time_ns() // 1_000),
            )
        if not made.rowcount:
            raise InvalidRequest(f"knowledge base {base.name!r} already exists")

    def knowledge_bases(self, tenant: str) -> list[KnowledgeBase]:
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT {BASE_COLUMNS} FROM knowledge_bases WHERE tenant = ? ORDER BY name",
                (tenant,),
            ).fetchall()
        return [base_of(row) for row in rows]

    def tenants(self) -> list[str]:
        with self._database.transaction() as db:
            rows = db.execute("SELECT DISTINCT tenant FROM knowledge_bases").fetchall()
        return sorted(tenant for (tenant,) in rows)

    def describe(self, tenant: str, name: str, description: str, examples: Sequence[str]) -> None:
        self.changes(tenant, name)
        with self._database.transaction() as db:
            db.execute(
                "UPDATE knowledge_bases SET description = ?, examples = ? "
                "WHERE tenant = ? AND name = ?",
                (description, json.dumps(list(examples), ensure_ascii=False), tenant, name),
            )

    def set_base_acl(self, tenant: str, name: str, acl: Sequence[str]) -> None:
        self.changes(tenant, name)
        with self._database.transaction() as db:
            db.execute(
                "UPDATE knowledge_bases SET acl = ? WHERE tenant = ? AND name = ?",
                (json.dumps(list(acl)), tenant, name),
            )
            self._changed(db, tenant, name)

    def set_document_acl(
        self, tenant: str, knowledge_base: str, document_id: str, acl: Sequence[str]
    ) -> None:
        with self._database.transaction() as db:
            db.execute(
                "UPDATE documents SET acl = ? "
                "WHERE tenant = ? AND knowledge_base = ? AND document_id = ?",
                (json.dumps(list(acl)), tenant, knowledge_base, document_id),
            )
            self._changed(db, tenant, knowledge_base)

    def set_encoders(self, tenant: str, name: str, embedder: str, sparse: str) -> None:
        self.changes(tenant, name)
        with self._database.transaction() as db:
            db.execute(
                "UPDATE knowledge_bases SET embedder = ?, sparse = ? WHERE tenant = ? AND name = ?",
                (embedder, sparse, tenant, name),
            )
            self._changed(db, tenant, name)

    def delete_knowledge_base(self, tenant: str, name: str) -> None:
        with self._database.transaction() as db:
            deleted = db.execute(
                "DELETE FROM knowledge_bases WHERE tenant = ? AND name = ?", (tenant, name)
            )
            if not deleted.rowcount:
                raise UnknownKnowledgeBase(f"no knowledge base {name!r}")
            db.execute(
                "DELETE FROM documents WHERE tenant = ? AND knowledge_base = ?", (tenant, name)
            )
            db.execute(
                "UPDATE revisions SET state = 'dead' WHERE tenant = ? AND knowledge_base = ?",
                (tenant, name),
            )

    def forget_knowledge_base(self, tenant: str, name: str) -> None:
        with self._database.transaction() as db:
            db.execute(
                "DELETE FROM revisions WHERE tenant = ? AND knowledge_base = ? AND state = 'dead'",
                (tenant, name),
            )

    def original(self, tenant: str, knowledge_base: str, document: DocumentRecord) -> str | None:
        self.changes(tenant, knowledge_base)
        with self._database.transaction() as db:
            row = db.execute(
                "SELECT document_id FROM documents WHERE tenant = ? AND knowledge_base = ? "
                "AND content_sha256 = ? AND document_id <> ? AND duplicate_of IS NULL",
                (tenant, knowledge_base, document.content_sha256, document.document_id),
            ).fetchone()
        return str(row[0]) if row else None

    def take(self, tenant: str, knowledge_base: str) -> bool:
        return self._database.take(f"crag: write {tenant} {knowledge_base}")

    def let_go(self, tenant: str, knowledge_base: str) -> None:
        self._database.let_go(f"crag: write {tenant} {knowledge_base}")

    def begin_revision(self, tenant: str, knowledge_base: str, document: DocumentRecord) -> None:
        place = (tenant, knowledge_base, document.document_id, document.revision)
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO revisions VALUES (?, ?, ?, ?, 'writing') "
                "ON CONFLICT (tenant, knowledge_base, document_id, revision) "
                "DO UPDATE SET state = 'writing' WHERE revisions.state <> 'live'",
                place,
            )

    def make_live(
        self, tenant: str, knowledge_base: str, document: DocumentRecord, text: str
    ) -> str | None:
        with self._database.transaction() as db:
            made = db.execute(
                "UPDATE revisions SET state = 'live' WHERE tenant = ? AND knowledge_base = ? "
                "AND document_id = ? AND revision = ? AND state <> 'dead'",
                (tenant, knowledge_base, document.document_id, document.revision),
            )
            if not made.rowcount:
                raise DependencyError(
                    f"another process took over the writing to {knowledge_base!r} before "
                    f"{document.source!r} was done; ingest it again"
                )
            old = db.execute(
                "SELECT revision FROM documents "
                "WHERE tenant = ? AND knowledge_base = ? AND document_id = ?",
                (tenant, knowledge_base, document.document_id),
            ).fetchone()
            replaced = str(old[0]) if old and old[0] != document.revision else None
            if replaced is not None:
                db.execute(
                    "UPDATE revisions SET state = 'dead' WHERE tenant = ? AND knowledge_base = ? "
                    "AND document_id = ? AND revision = ?",
                    (tenant, knowledge_base, document.document_id, replaced),
                )
            db.execute(PUT_DOCUMENT, (tenant, knowledge_base, *document_row(document), text))
            self._changed(db, tenant, knowledge_base)
        return replaced

    def delete_document(self, tenant: str, knowledge_base: str, document_id: str) -> bool:
        place = (tenant, knowledge_base, document_id)
        with self._database.transaction() as db:
            deleted = db.execute(
                "DELETE FROM documents WHERE tenant = ? AND knowledge_base = ? AND document_id = ?",
                place,
            )
            db.execute(
                "UPDATE revisions SET state = 'dead' "
                "WHERE tenant = ? AND knowledge_base = ? AND document_id = ?",
                place,
            )
            self._changed(db, tenant, knowledge_base)
        return bool(deleted.rowcount)

    def unfinished(self) -> list[tuple[str, str, str, str]]:
        with self._database.transaction() as db:
            return db.execute(
                "SELECT tenant, knowledge_base, document_id, revision FROM revisions "
                "WHERE state <> 'live'"
            ).fetchall()

    def abandoned(self, tenant: str, knowledge_base: str) -> list[tuple[str, str]]:
        with self._database.transaction() as db:
            db.execute(
                "UPDATE revisions SET state = 'dead' "
                "WHERE tenant = ? AND knowledge_base = ? AND state = 'writing'",
                (tenant, knowledge_base),
            )
            return db.execute(
                "SELECT document_id, revision FROM revisions "
                "WHERE tenant = ? AND knowledge_base = ? AND state = 'dead'",
                (tenant, knowledge_base),
            ).fetchall()

    def forget_revision(
        self, tenant: str, knowledge_base: str, document_id: str, revision: str
    ) -> None:
        with self._database.transaction() as db:
            db.execute(
                "DELETE FROM revisions WHERE tenant = ? AND knowledge_base = ? "
                "AND document_id = ? AND revision = ? AND state <> 'live'",
                (tenant, knowledge_base, document_id, revision),
            )

    def documents(self, tenant: str, knowledge_base: str) -> list[DocumentRecord]:
        with self._database.transaction() as db:
            rows = db.execute(
                f"SELECT {DOCUMENT_COLUMNS} FROM documents "
                "WHERE tenant = ? AND knowledge_base = ? ORDER BY source",
                (tenant, knowledge_base),
            ).fetchall()
        return [document_of(row) for row in rows]

    def text(self, tenant: str, knowledge_base: str, document_id: str, revision: str) -> str | None:
        with self._database.transaction() as db:
            row = db.execute(
                "SELECT text FROM documents WHERE tenant = ? AND knowledge_base = ? "
                "AND document_id = ? AND revision = ?",
                (tenant, knowledge_base, document_id, revision),
            ).fetchone()
        return str(row[0]) if row else None

    def changes(self, tenant: str, knowledge_base: str) -> int:
        with self._database.transaction() as db:
            row = db.execute(
                "SELECT changes FROM knowledge_bases WHERE tenant = ? AND name = ?",
                (tenant, knowledge_base),
            ).fetchone()
        if row is None:
            raise UnknownKnowledgeBase(f"no knowledge base {knowledge_base!r}")
        return int(row[0])

    def close(self) -> None:
        self._database.close()

    def _changed(self, db: Transaction, tenant: str, knowledge_base: str) -> None:
        db.execute(
            "UPDATE knowledge_bases SET changes = changes + 1 WHERE tenant = ? AND name = ?",
            (tenant, knowledge_base),
        )
