"""The embedders that come as packages, by name."""

from collections.abc import Callable

from ingest.adapters.minilm import MiniLM
from ingest.adapters.multilingual_e5 import MultilingualE5
from ingest.adapters.transformer_embedder import EncoderModel, TransformerEmbedder

MODELS: dict[str, Callable[[], EncoderModel]] = {
    "multilingual-e5-small": MultilingualE5,
    "all-MiniLM-L6-v2": MiniLM,
}


def open_embedder(name: str) -> TransformerEmbedder:
    """Loads nothing. `name` is a key of MODELS."""
    return TransformerEmbedder(MODELS[name]())
