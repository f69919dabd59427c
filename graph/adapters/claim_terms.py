"""Words that turn a claim around: negators, quantifiers, conditions, and terms with opposites."""

from nodes.words import stem


def _stems(english: str, german: str) -> frozenset[str]:
    return frozenset(stem(w, "en") for w in english.split()) | frozenset(
        stem(w, "de") for w in german.split()
    )


NEGATORS = frozenset(
    """not n't no never none neither nor without cannot unable nobody nothing nowhere hardly
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts
    kaum""".split()
)

QUANTIFIERS = {
    "all": frozenset(
        """all every each always any everyone everybody entire entirely whole fully completely
        alle allen aller alles jede jeder jedes jeden jedem immer sämtliche sämtlichen stets
        gesamte gesamten vollständig ausnahmslos""".split()
    ),
    "most": frozenset(
        """most mostly majority usually generally largely often typically mainly meist meisten
        meistens mehrheit überwiegend üblicherweise oft häufig größtenteils""".split()
    ),
    "some": frozenset(
        """some several few sometimes certain occasionally partly partially selected many various
        einige einigen manche manchen mancher mehrere wenige manchmal bestimmte bestimmten
        teilweise gelegentlich ausgewählte viele vielen""".split()
    ),
    "only": frozenset(
        "only exclusively solely nur ausschließlich lediglich allein alleinig".split()
    ),
    "except": frozenset(
        """except excluding unless excluded exception exceptions apart ausgenommen außer
        ausnahme ausnahmen ausschluss""".split()
    ),
}

CONDITIONS = frozenset(
    """if unless when whenever provided once where until subject depending wenn falls sofern sobald
    solange bis vorausgesetzt soweit bei""".split()
)

BOUNDING = frozenset(
    """within least most minimum maximum until up exceed exceeding mindestens wenigstens höchstens
    maximal binnen innerhalb spätestens about around approximately etwa circa rund""".split()
)
"""Words that only bound a number or a time: they are no matter of their own."""

PERSON = frozenset(
    """i me my mine we us our you your yours ich mir mich mein meine wir uns unser unsere du dir
    dich dein deine""".split()
)
OPINION = frozenset(
    """think guess believe feel hope love like liked loved hate favorite favourite wonder sure maybe
    perhaps probably glaube denke finde hoffe liebe mag vielleicht wohl wahrscheinlich""".split()
)

PASSIVE = (
    r"\b(?:is|are|was|were|been|being|be)\s+(?:\w+\s+){0,2}?\w+(?:ed|en|ght|ld|de)\b.{0,40}?\bby\b"
    r"|\b(?:wird|wurde|wurden|werden|worden)\b.{0,60}?\b(?:von|vom|durch)\b"
    r"|\b(?:von|vom|durch)\b.{0,60}?\b(?:wird|wurde|wurden|werden|worden)\b"
)

OPPOSITES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "amount": (
        _stems("increase rise grow raise higher gain upward improve up more greater larger longer"
               " elevate enhance promote activate boost expand extend double",
               "steigen erhöhen wachsen zunehmen höher mehr verbessern größer länger anstieg"
               " zunahme erhöhung steigt stieg gestiegen wuchs verlängern"),
        _stems("decrease fall fell drop reduce lower decline less fewer shrink downward worsen down"
               " smaller shorter diminish inhibit suppress impair halve attenuate shorten",
               "sinken senken fallen verringern reduzieren abnehmen niedriger weniger geringer"
               " kürzer verschlechtern rückgang abnahme senkung sinkt sank gesunken verkürzen"),
    ),
    "time": (
        _stems("after following later since afterwards once", "nach nachdem danach später seit"),
        _stems("before prior earlier until preceding beforehand by",
               "vor bevor vorher früher bis ehe zuvor spätestens"),
    ),
    "permission": (
        _stems("allow permit may can authorise authorize entitle eligible legal possible grant"
               " approve accept valid",
               "erlauben erlaubt gestatten gestattet darf dürfen zulässig kann können möglich"
               " berechtigt genehmigen genehmigt akzeptieren gültig"),
        _stems("forbid forbidden prohibit ban deny refuse reject disallow illegal impossible"
               " ineligible revoke invalid void barred decline",
               "verbieten verboten untersagen untersagt unzulässig unmöglich ablehnen abgelehnt"
               " verweigern verweigert ungültig"),
    ),
    "scope": (
        _stems("include contain cover with inclusive comprise plus",
               "enthalten einschließlich inklusive umfassen umfasst mit deckt inbegriffen"
               " zuzüglich"),
        _stems("exclude omit without except exclusive lack minus",
               "ausschließen ausgeschlossen ohne außer ausgenommen exklusive fehlt abzüglich"),
    ),
    "duty": (
        _stems("require must mandatory obligatory need necessary compulsory obliged shall",
               "muss müssen pflicht verpflichtend erforderlich notwendig verpflichtet nötig"
               " vorgeschrieben obligatorisch"),
        _stems("optional voluntary unnecessary waive exempt needless",
               "freiwillig optional unnötig befreit entbehrlich"),
    ),
    "state": (_stems("open start begin began active enable on", "öffnen offen beginnen aktiv an"
                     " starten geöffnet anfang beginn"),
              _stems("close end finish stop inactive disable off expire", "schließen geschlossen"
                     " enden aus endet inaktiv ende ablauf beenden")),
    "outcome": (_stems("win won succeed success pass gain agree confirm",
                       "gewinnen gewann erfolg bestehen zustimmen bestätigen"),
                _stems("lose lost fail failure defeat disagree contradict",
                       "verlieren verlor scheitern misserfolg durchfallen widersprechen")),
    "trade": (_stems("buy bought purchase acquire import receive", "kaufen kauft einkauf"
                     " erwerben importieren erhalten empfangen"),
              _stems("sell sold sale export send sent", "verkaufen verkauft verkauf exportieren"
                     " senden versenden")),
    "side": (_stems("internal inside indoor", "intern innen innerhalb drinnen"),
             _stems("external outside outdoor", "extern außen außerhalb draußen")),
    "order": (_stems("first initial earliest begin", "erste ersten erster zuerst anfangs"),
              _stems("last final latest end", "letzte letzten letzter zuletzt schließlich")),
    "share": (_stems("full entire whole complete", "voll ganz vollständig komplett gesamt"),
              _stems("partial part half incomplete", "teilweise teil halb unvollständig")),
    "price": (_stems("free gratis complimentary", "kostenlos gratis kostenfrei unentgeltlich"),
              _stems("paid charge fee cost chargeable", "kostenpflichtig gebühr entgeltlich")),
    "same": (_stems("same equal identical similar", "gleich identisch derselbe dieselbe ähnlich"),
             _stems("different unequal distinct differ", "verschieden anders unterschiedlich")),
    "manner": (_stems("automatic", "automatisch"), _stems("manual", "manuell")),
    "person": (_stems("employer landlord seller lender teacher parent supplier",
                      "arbeitgeber vermieter verkäufer lehrer lieferant"),
               _stems("employee tenant buyer borrower student child customer",
                      "arbeitnehmer mieter käufer schüler kind kunde")),
}  # fmt: skip

EXCLUSIVE = tuple(
    {stem(word, "en" if n == 0 else "de"): k
     for n, line in enumerate(lines) for k, word in enumerate(line.split())}
    for lines in (
        ("monday tuesday wednesday thursday friday saturday sunday",
         "montag dienstag mittwoch donnerstag freitag samstag sonntag"),
        ("daily weekly monthly quarterly yearly", "täglich wöchentlich monatlich vierteljährlich"
         " jährlich"),
        ("north south east west", "norden süden osten westen"),
        ("morning afternoon evening night", "morgen nachmittag abend nacht"),
        ("spring summer autumn winter", "frühling sommer herbst winter"),
        ("black white red green blue yellow", "schwarz weiß rot grün blau gelb"),
        ("email phone post fax", "e-mail telefon brief fax"),
    )
)  # fmt: skip
"""Words of one line stand for each other in the other language; two of one group differ."""
