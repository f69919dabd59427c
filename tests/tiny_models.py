"""Models of random weights, saved in milliseconds: real code around them, no sense in them."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging

WORDS = "[PAD] [UNK] [CLS] [SEP] how long do refunds take are paid within five days leave".split()
WINDOW = 48
"""Tokens of a pair that the model can take."""


def save_cross_encoder(folder: Path, *, labels: int = 1, bias: float | None = None) -> Path:
    """BERT with two layers and a scoring head. `bias` replaces what the head adds to a score."""
    model = BertForSequenceClassification(_config(labels))
    if bias is not None:
        torch.nn.init.constant_(model.classifier.bias, bias)
    return _saved(model, folder)


def save_encoder(folder: Path) -> Path:
    """The same without a head: what an embedding model is."""
    return _saved(BertModel(_config(1)), folder)


def _config(labels: int) -> BertConfig:
    torch.manual_seed(7)
    return BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=WINDOW,
        num_labels=labels,
        initializer_range=0.5,  # scores that differ from passage to passage
    )


def _saved(model: Any, folder: Path) -> Path:
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
    ).save_pretrained(folder)
    return folder
