"""Guesses the language of a text that does not declare one."""

import threading

MIN_CHARACTERS = 200
"""Below this the guess is mostly wrong: headings and names look like any language."""

_SAMPLE = 4_000
_ONE_AT_A_TIME = threading.Lock()


def detect_language(text: str) -> str:
    """An ISO 639-1 code, the same for the same text; empty when the text is too short to tell."""
    sample = text[:_SAMPLE]
    if sum(character.isalpha() for character in sample) < MIN_CHARACTERS:
        return ""
    from langdetect import (  # type: ignore[import-untyped]
        DetectorFactory,
        LangDetectException,
        detect,
    )

    # langdetect fills its table of profiles on first use without a lock, and draws at random.
    with _ONE_AT_A_TIME:
        DetectorFactory.seed = 0
        try:
            return str(detect(sample)).split("-")[0]
        except LangDetectException:
            return ""
