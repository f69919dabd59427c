"""The embedding model alone: what the parts around it are compared with."""

from collections.abc import Callable

from ingest.adapters.embedders import MODELS
from ingest.settings import IndexSettings

BATCH = 32


def bare_encoder() -> Callable[[list[str]], None]:
    """Loads the model of the settings; each call encodes passages, the longest first, and keeps
    nothing of them."""
    import torch

    source = MODELS[IndexSettings().embedder]()
    loaded, tokenizer = source.load(), source.tokenizer()
    tokenizer.enable_truncation(source.max_tokens)
    tokenizer.enable_padding(pad_id=loaded.pad_id)

    def encode(texts: list[str]) -> None:
        ordered = [source.prefixes["passage"] + t for t in sorted(texts, key=len, reverse=True)]
        for start in range(0, len(ordered), BATCH):
            batch = tokenizer.encode_batch(ordered[start : start + BATCH])
            ids = torch.tensor([one.ids for one in batch])
            mask = torch.tensor([one.attention_mask for one in batch])
            with torch.inference_mode():
                hidden = loaded.model(input_ids=ids, attention_mask=mask).last_hidden_state
                means = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
                torch.nn.functional.normalize(means, dim=1)

    return encode
