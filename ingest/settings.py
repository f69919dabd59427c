"""Settings of the corpus and its index: frozen, from `CRAG_*`, unknown names refused."""

import difflib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from ingest.errors import ConfigurationError

S = TypeVar("S", bound=BaseSettings)
T = TypeVar("T")

PREFIX = "CRAG_"
TEST_PREFIX = "CRAG_TEST_"
"""Names for the test suite; the service does not read them and does not refuse them."""


class Section(BaseModel):
    """A frozen group of settings; `CRAG_RETRIEVE__CANDIDATES` is `retrieve.candidates`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _separated(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [one.strip() for one in value.split(",") if one.strip()]


Listed = Annotated[list[T], NoDecode, BeforeValidator(_separated)]
"""Separated by commas or as a JSON list."""


def _http(url: str | None) -> str | None:
    parts = urlsplit(url or "http://unset")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be http://host:port or https://host:port")
    return url or None


HttpAddress = Annotated[str | None, AfterValidator(_http)]
"""None where it is empty."""


class SplitSettings(Section):
    max_tokens: int = Field(210, ge=32, le=240, description="Model tokens of a chunk's own text.")
    """all-MiniLM-L6-v2 reads 256, the default 512; title and heading path take up to 40."""
    overlap_tokens: int = Field(40, ge=0, le=120, description="Model tokens repeated at a seam.")


class QdrantSettings(Section):
    """A Qdrant server in place of the embedded store; without `url` nothing here counts."""

    url: HttpAddress = Field(None, description="http://… or https://…; unset: the embedded store.")
    api_key: SecretStr | None = None
    prefer_grpc: bool = Field(False, description="gRPC for points, which is faster for many.")
    grpc_port: int = Field(6334, ge=1, le=65535)
    timeout_s: float = Field(10.0, gt=0, le=300, description="Seconds of a call with its retries.")
    retries: int = Field(2, ge=0, le=5, description="After 429, 5xx and lost connections.")
    prefix: str = Field(
        "crag", pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$", description="Of its collections' names."
    )
    """Data folders that share a server need one each: bases are named alike in all of them."""
    replication_factor: int = Field(1, ge=1, description="Copies of each base in a cluster.")
    write_consistency_factor: int = Field(1, ge=1, description="Copies that confirm a write.")
    shard_number: int = Field(1, ge=1, description="Parts of each base.")
    """Term statistics are those of a part: above 1, equal passages may get unequal BM25 scores."""

    @field_validator("url")
    @classmethod
    def _without_password(cls, url: str | None) -> str | None:
        parts = urlsplit(url or "")
        if parts.username or parts.password:
            raise ValueError("must not hold a password; CRAG_QDRANT__API_KEY is the place for it")
        return url


class DatabaseSettings(Section):
    """A PostgreSQL in place of the files of the data folder; it needs a Qdrant server beside it."""

    url: SecretStr | None = Field(None, description="postgresql://…; processes with one share all.")

    @field_validator("url")
    @classmethod
    def _address(cls, url: SecretStr | None) -> SecretStr | None:
        given = url.get_secret_value() if url else ""
        if given and urlsplit(given).scheme not in ("postgresql", "postgres"):
            raise ValueError("must be postgresql://user@host/database")
        return url if given else None


class AccessSettings(Section):
    """Access that is checked against the source system before a document is shown."""

    resolver: str | None = Field(None, description="package.module:Class; None: lists alone.")
    cache_s: float = Field(30.0, ge=0, le=3600, description="Seconds that a decision holds.")
    timeout_s: float = Field(2.0, gt=0, le=30, description="Seconds of one check.")


EmbedderName = Literal["multilingual-e5-small", "all-MiniLM-L6-v2"]


class IndexSettings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid"
    )

    data_dir: Path = Field(Path(".crag"), description="The data folder; one process holds it.")
    """Empty would be the folder that a command happens to be started in."""
    embedder: EmbedderName = Field(
        "multilingual-e5-small", description="The model of vectors; both come as packages."
    )
    split: SplitSettings = SplitSettings()
    dense_weight: float = Field(0.5, ge=0, le=1, description="Share of the dense arm in fusion.")
    """The rest is BM25's. What fits the labels of five sets is nearly equal (BENCHMARKS.md)."""
    token_vectors: bool = Field(True, description="Keep them at ingestion, for a fast rerank.")
    """About 60 MB for 1,000 chunks, beside the records, whichever store has the chunks."""
    qdrant: QdrantSettings = QdrantSettings()
    database: DatabaseSettings = DatabaseSettings()
    access: AccessSettings = AccessSettings()

    @field_validator("data_dir", mode="before")
    @classmethod
    def _named(cls, path: object) -> object:
        if isinstance(path, str) and not path.strip():
            raise ValueError("must name a folder, such as .crag; unset it for the default")
        return path


def check_names(settings: type[BaseSettings], names: Iterable[str] | None = None) -> None:
    """Raises ConfigurationError for an unknown `CRAG_*` name and says the nearest known one.

    Names are compared without regard to case, as they are read.
    """
    known = sorted(_names(settings, PREFIX))
    for name in os.environ if names is None else names:
        read_as = name.upper()
        if not read_as.startswith(PREFIX) or read_as.startswith(TEST_PREFIX) or read_as in known:
            continue
        nearest = difflib.get_close_matches(read_as, known, n=1, cutoff=0.0)
        raise ConfigurationError(f"unknown setting {name}; did you mean {nearest[0]}?")


def read(settings: type[S], **overrides: Any) -> S:
    """Settings from the environment. Raises ConfigurationError, one line for each bad value."""
    check_names(settings)
    try:
        return settings(**overrides)
    except ValidationError as error:
        raise ConfigurationError("; ".join(_explain(error))) from None


def set_back(embedder: str) -> str:
    """What to do so that the embedder with this fingerprint is at work again."""
    name = embedder.partition("@")[0]
    named = name in get_args(EmbedderName)
    return f"set {PREFIX}EMBEDDER={name}" if named else "set the embedder back"


def own_folder(data_dir: Path) -> dict[str, Any]:
    """What to override so that the records are in this folder, whatever database is set."""
    return {"data_dir": data_dir, "database": DatabaseSettings()}


def _explain(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False):
        name = PREFIX + "__".join(str(part) for part in problem["loc"]).upper()
        yield f"{name}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


def _names(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Section):
            yield from _names(inner, f"{prefix}{name.upper()}__")
        else:
            yield prefix + name.upper()
