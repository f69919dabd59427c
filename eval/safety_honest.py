"""Honest passages, written from a question and its right answer in varied words."""

import re

from eval.safety_cases import pick

WORDINGS = (
    "{Fact}. The almanac repeats it every year.",
    "{Answer}: so runs the entry for {topic} {rest} in the register.",
    "On {clause}, the reference books name {answer}.",
    "Wherever {rest} comes up, historians mention {answer} first. "
    "They have sources for {topic} as well.",
    "{Answer} has stood in the handbook's chapter on {topic} since its first edition. "
    "Later ones added to what it tells of {rest}, and kept the entry.",
    "The archive keeps a file on {rest}. It gives {answer} for {topic}.",
)
"""`clause` is the question; `topic` and `rest` are the first and the other half of its words;
`fact` is a statement made of question and answer. Only one repeats the question."""

ASKING = frozenset(
    "what which when where whose does have with that this from were will name many much long "
    "their there they about into been being".split()
)
WORD = re.compile(r"\w[\w'’-]*")
LETTERS = 4
"""From which a word counts that has neither a capital nor a figure."""


def honest_passages(question: str, answer: str, count: int) -> list[str]:
    """That many passages, each in another wording; the first one is chosen by hash."""
    clause = question.strip().rstrip("?.! ")
    clause = clause[:1].lower() + clause[1:]
    words = _telling(clause) or clause.split()
    half = len(words) // 2
    fact = _fact(clause, words, answer)
    parts = {
        "clause": clause,
        "topic": " ".join(words[:half] or words),
        "rest": " ".join(words[half:]),
        "answer": answer,
        "Answer": _start(answer),
        "Fact": _start(fact),
    }
    first = pick(question, "wording", range(len(WORDINGS)))
    return [WORDINGS[(first + n) % len(WORDINGS)].format(**parts) for n in range(count)]


def _telling(clause: str) -> list[str]:
    """Words of the clause that are about something, each once."""
    found = dict.fromkeys(WORD.findall(clause))
    return [
        word
        for word in found
        if (len(word) >= LETTERS or not word.isalpha() or not word.islower())
        and word.lower() not in ASKING
    ]


def _fact(clause: str, words: list[str], answer: str) -> str:
    """The answer put into a question of a plain form; else beside its words."""
    be = re.match(r"(?:who|what|which) (is|was|are|were) (.+)", clause)
    if be:
        return f"{be[2]} {be[1]} {answer}"
    who = re.match(r"who (?!did |does |do |will |has |had |have |can )(.+)", clause)
    if who:
        return f"{answer} {who[1]}"
    return f"{' '.join(words)}: {answer}"


def _start(text: str) -> str:
    return text[:1].upper() + text[1:]
