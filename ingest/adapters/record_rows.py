"""Knowledge bases and documents as rows of tables."""

import json
from collections.abc import Sequence

from ingest.database import Tables
from ingest.ports import DocumentRecord, KnowledgeBase

RECORDS = Tables(
    "the document records",
    "records.sqlite",
    """
CREATE TABLE IF NOT EXISTS knowledge_bases (
  tenant TEXT, name TEXT, description TEXT, created_at TEXT, embedder TEXT, sparse TEXT,
  web INTEGER, changes INTEGER DEFAULT 0, acl TEXT DEFAULT '["*"]', examples TEXT DEFAULT '[]',
  PRIMARY KEY (tenant, name));
CREATE TABLE IF NOT EXISTS revisions (
  tenant TEXT, knowledge_base TEXT, document_id TEXT, revision TEXT, state TEXT,
  PRIMARY KEY (tenant, knowledge_base, document_id, revision));
CREATE TABLE IF NOT EXISTS documents (
  tenant TEXT, knowledge_base TEXT, document_id TEXT, source TEXT, title TEXT, revision TEXT,
  content_sha256 TEXT, media_type TEXT, chunks INTEGER, updated_at TEXT, status TEXT,
  metadata TEXT, duplicate_of TEXT, acl TEXT DEFAULT '["*"]', text TEXT,
  PRIMARY KEY (tenant, knowledge_base, document_id));
CREATE INDEX IF NOT EXISTS documents_by_content
  ON documents (tenant, knowledge_base, content_sha256);
""",
    added=(
        ("knowledge_bases", "acl TEXT DEFAULT '[\"*\"]'"),
        ("documents", "acl TEXT DEFAULT '[\"*\"]'"),
        ("knowledge_bases", "examples TEXT DEFAULT '[]'"),
    ),
    pragmas=("journal_mode = WAL", "synchronous = FULL"),
    statement_s=60,  # deleting a large base
)

DOCUMENT_COLUMNS = (
    "document_id, source, title, revision, content_sha256, media_type, chunks, updated_at, "
    "status, metadata, duplicate_of, acl"
)
BASE_COLUMNS = "name, description, created_at, embedder, sparse, web, acl, examples"

REPLACED = [*DOCUMENT_COLUMNS.split(", ")[1:], "text"]
PUT_DOCUMENT = (
    f"INSERT INTO documents (tenant, knowledge_base, {DOCUMENT_COLUMNS}, text) "
    f"VALUES ({', '.join('?' * (3 + len(REPLACED)))}) "
    "ON CONFLICT (tenant, knowledge_base, document_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in REPLACED)
)


def base_row(b: KnowledgeBase) -> tuple[object, ...]:
    made = (b.name, b.description, b.created_at, b.embedder, b.sparse)
    lists = (json.dumps(b.acl), json.dumps(b.examples, ensure_ascii=False))
    return (*made, int(b.web), *lists)


def base_of(row: Sequence[str]) -> KnowledgeBase:
    name, description, created_at, embedder, sparse, web, acl, examples = row
    made = (name, description, created_at, embedder, sparse)
    lists = {"acl": json.loads(acl), "examples": json.loads(examples)}
    return KnowledgeBase(*made, web=bool(web), **lists)


def document_row(d: DocumentRecord) -> tuple[object, ...]:
    metadata = json.dumps(d.metadata, ensure_ascii=False)
    identity = (d.document_id, d.source, d.title, d.revision, d.content_sha256, d.media_type)
    state = (d.chunks, d.updated_at, d.status, metadata, d.duplicate_of)
    return (*identity, *state, json.dumps(d.acl))


def document_of(row: Sequence[object]) -> DocumentRecord:
    fields = list(row)
    for n in (9, 11):
        fields[n] = json.loads(str(fields[n]))
    return DocumentRecord(*fields)  # type: ignore[arg-type]
