"""Words, stems and stop words in English, German and Spanish."""

import re
from functools import lru_cache

import snowballstemmer

LANGUAGES = ("en", "de", "es")

_SNOWBALL = {"en": "english", "de": "german", "es": "spanish"}

STOP_WORDS = {
    "en": frozenset(
        """a about above after again all also am an and any are as at be because been before being
        below between both but by can could did do does doing done down during each either else
        ever few for from further get gets give got had has have having he her here hers him his
        how i if in into is it its itself just know let like long many may me might more most much
        must my need no nor not now of off on once one only or other our out over own please same
        shall she should so some still such tell than that the their them then there these they
        this those through to too under until up us use very want was we were what when where
        which while who whom whose why will with would yet you your take takes taking took happen
        happens come comes go goes going happened someone somebody anything something""".split()
    ),
    "de": frozenset(
        """ab aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist
        bitte da damit dann das dass dein dem den denn der des dessen deren dich die dies diese
        diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es
        euch für gegen gibt hab habe haben hat hatte hier hin ich ihm ihn ihr ihre ihrem ihren im in
        ist ja jede jedem jeden jeder jedes jetzt kann kein keine keinen können könnte lang lange
        man mein meine meinem meinen meiner mich mir mit muss müssen nach nicht noch nun nur ob oder
        ohne sehr sein seine seinem seinen sich sie sind so soll sollte über um und uns unser unsere
        unter vom von vor wann warum was weil welche welchem welchen welcher welches wem wen wenn
        wer werde werden wie wieder will wir wird wo wohin wurde während zu zum zur viel viele darf
        dürfen""".split()
    ),
    "es": frozenset(
        """a al algo ante antes aquí así aunque cada como con contra cual cuáles cuál cuando cuánta
        cuántas cuánto cuántos cuándo cómo de del desde donde dónde dos durante e el él ella ellas
        ellos en entre era es esa esas ese eso esos esta está están estas este esto estos fue ha
        hace hacer han hasta hay la las le les lo los más me mi mis mucho muy nada ni no nos o
        otra otro para pero poco por porque puede puedo que qué quien quién se sea ser si sí sin
        sobre son su sus también te tener tiene tengo toda todas todo todos tu tus un una unas uno
        unos y ya yo debo debe""".split()
    ),
}

_OTHERS = {
    "fr": frozenset(
        """au aux avec ce ces cette combien comment dans de des du elle est et il ils je la le les
        leur mon ne nos notre nous où par pas peut pour puis quand quel quelle quelles quels qui
        quoi sa ses son sont sur un une vos votre vous à être qu'est c'est n'est d'un d'une
        """.split()
    ),
    "it": frozenset(
        """che chi come con cosa dei del della delle di dove dopo è gli ha ho il io la le lo mi nel
        nella non per perché più posso quale quali quando quanta quanto quanti questo si sono un una
        uno""".split()
    ),
    "pt": frozenset(
        """a ao as com como da das de do dos e ele em eu é foi já mas meu minha na não no nos o onde
        os ou para pela pelo por posso qual quais quando quanto quantos que quem se são seu sua um
        uma você""".split()
    ),
    "nl": frozenset(
        """aan bij dat de deze die dit een en er ge het hoe hoeveel hoelang ik is kan mag met mijn
        moet naar niet of om op te uit van voor waar wanneer wat we welke wie wij wordt worden zijn
        zonder""".split()
    ),
}
"""Languages that no text is written in: without them French reads as Spanish, Dutch as German."""

ALL_STOP_WORDS = frozenset().union(*STOP_WORDS.values())

LITERAL = re.compile(
    r"""(?<![\w.\-/])(?:
        [A-Za-z]{1,12}-\d[\w\-]*            # E-4102, PROJ-123
      | [A-Za-z]+(?:[._/:][A-Za-z0-9_]+)+    # sync.retry_max, api/v1
      | [a-z0-9]+(?:_[a-z0-9]+)+             # retry_max
      | (?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{3,}   # V2a, ERR42
      | v?\d+(?:\.\d+)+                      # 3.2.1
      | [A-Z]{2,}[A-Z0-9]*                   # VPN, SLA
      | --?[a-z][\w\-]+                      # --force
    )(?![\w])""",
    re.VERBOSE,
)

SHOUTED = 4
"""Words in capitals from which they are a sentence; "VPN IT SLA" may be three acronyms."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?", re.UNICODE)
_VOWEL_S = re.compile(r"(?<=..[aiou])s$")
_GERMAN_LETTERS = re.compile(r"[äöüß]")
_SPANISH_LETTERS = re.compile(r"[ñ¿¡áéíó]")


def words(text: str) -> list[str]:
    """Lower-case words in order, without the parts that only punctuation makes."""
    return [_possessive(match.group().lower()) for match in _WORD.finditer(text)]


def content_words(text: str) -> list[str]:
    """Words that carry meaning, in order, without repeats."""
    return list(dict.fromkeys(w for w in words(text) if w not in ALL_STOP_WORDS))


def stems(text: str, language: str = "en") -> list[str]:
    """Stems of the content words, in order, without repeats."""
    return list(dict.fromkeys(stem(word, language) for word in content_words(text)))


@lru_cache(maxsize=50_000)
def stem(word: str, language: str = "en") -> str:
    """The Snowball stem; a word with a digit stays as it is. The plural of German words that end
    in a vowel, `Kanus`, is left whole by Snowball."""
    if any(c.isdigit() for c in word):
        return word
    stemmed = str(snowballstemmer.stemmer(_SNOWBALL.get(language, "english")).stemWord(word))
    return _VOWEL_S.sub("", stemmed) if language == "de" else stemmed


def literals(text: str) -> list[str]:
    """Tokens that must survive every rewrite: codes, keys, versions, acronyms, flags."""
    return list(dict.fromkeys(match.group() for match in LITERAL.finditer(text)))


def without_capitals(text: str) -> str:
    """A text of several words that are all in capitals, in lower case but for what has a digit:
    shouted words are no acronyms, and an embedder that knows case finds nothing for them."""
    if not text.isupper() or len(words(text)) < SHOUTED:
        return text
    return " ".join(w if any(map(str.isdigit, w)) else w.lower() for w in text.split(" "))


def guess_language(text: str) -> str:
    """en, de or es, by stop words and letters; en where nothing decides, and for all others."""
    lowered = text.lower()
    tokens = words(lowered)
    votes = {lang: sum(w in STOP_WORDS[lang] for w in tokens) for lang in LANGUAGES}
    votes["de"] += 2 * bool(_GERMAN_LETTERS.search(lowered))
    votes["es"] += 2 * bool(_SPANISH_LETTERS.search(lowered))
    other = max(sum(w in known for w in tokens) for known in _OTHERS.values())
    if other > max(votes.values()):
        return "en"
    return max(LANGUAGES, key=lambda lang: (votes[lang], lang == "en"))


def _possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word
