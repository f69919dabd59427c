"""Wrong answers out of right documents, in English and German: the value of another thing, no
person to "who", not the attribute that was asked for, another year, a sentence tagged on.

Real model and grader, small bases. What they hold is answered, what they do not is declined.
"""

import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from graph.compose import Service, open_graph
from graph.runner import Ask
from graph.settings import BudgetSettings, GraphSettings
from ingest.pipeline import ingest
from ingest.scope import LOCAL
from tests.conftest import MEMORY

pytestmark = [pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]
"""The fixture counts as the first test's setup, and other workers may hold the cores."""

DOCUMENTS = {
    "en": {
        "Cabin Otter": "You may enter cabin Otter from 15:00 on the day you arrive. It sleeps six"
        " people. The key hangs in a box beside the door. A night costs 84 euros.",
        "Cabin Heron": "You may enter cabin Heron from 17:00 on the day you arrive. It sleeps four"
        " people. A dog is allowed in it. A night costs 62 euros.",
        "Internet": "The Wi-Fi network is called Camp-Guest. It reaches all cabins and the dining"
        " hall. It is slow in the evening, when many use it.",
        "Front desk": "The front desk opens at 8 and closes at 20:00. The front desk lends maps and"
        " umbrellas. Lost things are kept there for 30 days.",
        "Boats": "Rowing boats cost 9 euros an hour. Canoes can be borrowed for two hours at most."
        " Boats are checked monthly. Ana Ruiz repairs the boats.",
        "House rules": "Quiet hours begin at 22:00. Broken kayaks are marked with red tape. Large"
        " ovens stay locked at night. Firewood is delivered to Maple Street on Fridays.",
        "Workshop": "The Bosch grinder has a guard. The printer Falcon prints 30 pages a minute."
        " The printer Merlin prints 22 pages a minute. Oak boards lie in Bay 4.",
        "Money": "The finance team approves purchases above 500 euros. The head of facilities"
        " orders the spare parts. The treasurer signs the contracts.",
        "Courses": "The course on sailing takes 12 hours. The course on rowing takes 5 hours."
        " Fire drills are held monthly. Courses are announced monthly in the newsletter.",
        "Visitors": "In 2024 the camp counted 1,840 visitors. In 2022 it counted 1,210 visitors.",
    },
    "de": {
        "Hütte Otter": "Die Hütte Otter darf am Anreisetag ab 15 Uhr betreten werden. In ihr"
        " schlafen sechs Personen. Der Schlüssel hängt in einem Kasten neben der Tür. Eine Nacht"
        " kostet 84 Euro.",
        "Hütte Reiher": "Die Hütte Reiher darf am Anreisetag ab 17 Uhr betreten werden. In ihr"
        " schlafen vier Personen. Ein Hund ist in ihr erlaubt. Eine Nacht kostet 62 Euro.",
        "Internet": "Das WLAN heißt Camp-Gast. Es reicht bis in alle Hütten und den Speisesaal. Am"
        " Abend ist es langsam, wenn viele es nutzen.",
        "Anmeldung": "Die Anmeldung öffnet um 8 Uhr und schließt um 20 Uhr. Dort gibt es Karten und"
        " Schirme zu leihen. Fundsachen werden 30 Tage aufbewahrt.",
        "Boote": "Ruderboote kosten 9 Euro in der Stunde. Kanus werden für höchstens zwei Stunden"
        " verliehen. Boote werden monatlich geprüft. Jana Brandt repariert die Boote.",
        "Hausordnung": "Die Ruhezeit beginnt um 22 Uhr. Defekte Kajaks werden mit rotem Band"
        " markiert. Große Öfen bleiben nachts verschlossen. Brennholz wird freitags in die Lange"
        " Straße geliefert.",
        "Werkstatt": "Der Bosch Winkelschleifer hat eine Haube. Der Drucker Falke druckt 30 Seiten"
        " in der Minute. Der Drucker Merlin druckt 22 Seiten in der Minute. Eichenbretter liegen"
        " in Fach 4.",
        "Geld": "Die Buchhaltung genehmigt Einkäufe über 500 Euro. Die Leiterin der Technik"
        " bestellt die Ersatzteile. Die Kassenwartin unterschreibt die Verträge.",
        "Kurse": "Der Kurs im Segeln dauert 12 Stunden. Der Kurs im Rudern dauert 5 Stunden."
        " Feuerübungen finden monatlich statt. Kurse werden monatlich im Rundbrief angekündigt.",
        "Besucher": "Im Jahr 2024 zählte das Camp 1.840 Besucher. Im Jahr 2022 zählte es 1.210"
        " Besucher.",
    },
    "forest": {
        "Ranger": "The ranger's phone number is 0341 55 01 34. The ranger's e-mail address is"
        " ranger@camp.example. The code of the ranger's gate is 2580. The password of the ranger's"
        " radio is pinecone.",
        "Mill": "The mill opens at 9:00. The miller grinds corn and spelt. Flour costs 3 euros.",
        "Storm in 2021": "The storm felled 40 trees. It closed the path to the lake.",
    },
    "wald": {
        "Förster": "Die Telefonnummer des Försters ist 0341 55 01 34. Die E-Mail-Adresse des"
        " Försters ist wald@camp.example. Der Code für die Schranke des Försters ist 2580. Das"
        " Passwort für das Funkgerät des Försters ist Tannenzapfen.",
        "Mühle": "Die Mühle öffnet um 9 Uhr. Der Müller mahlt Mais und Dinkel. Mehl kostet 3 Euro.",
        "Sturm im Jahr 2021": "Der Sturm fällte 40 Bäume. Er sperrte den Weg zum See.",
    },
}

DECLINED: dict[str, list[tuple[str, str]]] = {
    "a thing that no passage names": [
        ("en", "When may we enter cabin Badger?"),
        ("en", "Cabin Badger: when may we enter it?"),
        ("en", "How many people does cabin Badger sleep?"),
        ("en", "How much does a night in cabin Badger cost?"),
        ("en", "How many pages a minute does the printer Osprey print?"),
        ("en", "What does Ana Perez repair?"),
        ("en", "How many visitors did camp Lakeside count in 2024?"),
        ("de", "Wann dürfen wir die Hütte Dachs betreten?"),
        ("de", "Wie viele Personen schlafen in der Hütte Dachs?"),
        ("de", "Was kostet eine Nacht in der Hütte Dachs?"),
        ("de", "Wie viele Seiten in der Minute druckt der Drucker Adler?"),
        ("de", "Was repariert Jana Vogel?"),
        ("de", "Wie viele Besucher zählte das Camp Seeblick im Jahr 2024?"),
    ],
    "who, and no person": [
        ("en", "Who repairs broken kayaks?"),
        ("en", "Who locks the large ovens?"),
        ("en", "Who maintains the Bosch grinder?"),
        ("en", "Who brings firewood to Maple Street?"),
        ("en", "Who uses the Wi-Fi in the evening?"),
        ("de", "Wer repariert defekte Kajaks?"),
        ("de", "Wer verschließt die großen Öfen?"),
        ("de", "Wer wartet den Bosch Winkelschleifer?"),
        ("de", "Wer bringt das Brennholz in die Lange Straße?"),
    ],
    "the attribute is not there": [
        ("en", "What is the Wi-Fi password?"),
        ("en", "What is the phone number of the front desk?"),
        ("en", "What is the e-mail address of the front desk?"),
        ("en", "What is the code of the key box of cabin Otter?"),
        ("en", "What is the price of a canoe?"),
        ("forest", "What is the phone number of the mill?"),
        ("de", "Wie lautet das WLAN-Passwort?"),
        ("de", "Wie lautet die Telefonnummer der Anmeldung?"),
        ("de", "Wie lautet die E-Mail-Adresse der Anmeldung?"),
        ("de", "Welchen Code hat der Schlüsselkasten der Hütte Otter?"),
        ("de", "Wie hoch ist der Preis für ein Kanu?"),
    ],
    "how long, and no duration": [
        ("en", "How long does the check of the boats take?"),
        ("en", "How long do fire drills last?"),
        ("de", "Wie lange dauert eine Feuerübung?"),
    ],
    "a year that no passage has": [
        ("en", "How many visitors did the camp count in 2023?"),
        ("de", "Wie viele Besucher zählte das Camp im Jahr 2023?"),
        ("de", "Wie viele Besucher zählte das Camp 2019?"),
        ("forest", "How many trees did the storm fell in 2020?"),
        ("wald", "Wie viele Bäume fällte der Sturm im Jahr 2020?"),
    ],
}
"""Base and question by what is not in the base."""

TOLD: dict[str, list[tuple[str, str, str, str]]] = {
    "a thing that is there": [
        ("en", "When may we enter cabin Otter?", "15:00", "17:00"),
        ("en", "When may we enter Cabin HERON?", "17:00", "15:00"),
        ("en", "How many people does cabin Otter sleep?", "six", "four"),
        ("en", "What does an overnight stay in cabin Heron cost?", "62", "84"),
        ("en", "How many pages a minute does the printer Falcon print?", "30", "Merlin"),
        ("en", "What does Mrs Ruiz repair?", "the boats", "kayaks"),
        ("en", "How much does a Rowing Boat cost?", "9 euros", "Canoes"),
        ("de", "Wann dürfen wir die Hütte Otter betreten?", "15 Uhr", "17 Uhr"),
        ("de", "Ab wann dürfen Gäste in die Hütte Reiher?", "17 Uhr", "15 Uhr"),
        ("de", "Wie viele Personen schlafen in der Hütte Reiher?", "vier", "sechs"),
        ("de", "Was kostet eine Übernachtung in der Hütte Reiher?", "62", "84"),
        ("de", "Was kostet eine Nacht in der Reiher-Hütte?", "62", "84"),
        ("de", "Wie viele Seiten in der Minute druckt der Drucker Falke?", "30", "Merlin"),
        ("de", "Was repariert Frau Brandt?", "die Boote", "Kajaks"),
    ],
    "who, and a person": [
        ("en", "Who repairs the boats?", "Ana Ruiz", "marked"),
        ("en", "Who orders the spare parts?", "The head of facilities", "finance"),
        ("en", "Who approves purchases above 500 euros?", "The finance team", "head"),
        ("en", "Who signs the contracts?", "The treasurer", "finance"),
        ("forest", "Who grinds the corn?", "The miller", "ranger"),
        ("de", "Wer repariert die Boote?", "Jana Brandt", "markiert"),
        ("de", "Wer bestellt die Ersatzteile?", "Die Leiterin der Technik", "Buchhaltung"),
        ("de", "Wer genehmigt Einkäufe über 500 Euro?", "Die Buchhaltung", "Leiterin"),
        ("de", "Wer unterschreibt die Verträge?", "Die Kassenwartin", "Buchhaltung"),
        ("wald", "Wer mahlt den Mais?", "Der Müller", "Förster"),
    ],
    "the attribute is there": [
        ("en", "What is the Wi-Fi network called?", "Camp-Guest", "22:00"),
        ("en", "What is the price of a rowing boat?", "9 euros", "Canoes"),
        ("en", "What is the price of a night in cabin Otter?", "84 euros", "15:00"),
        ("forest", "What is the phone number of the ranger?", "0341 55 01 34", "2580"),
        ("forest", "What is the ranger's e-mail address?", "ranger@camp.example", "pinecone"),
        ("forest", "What is the code of the ranger's gate?", "2580", "pinecone"),
        ("forest", "What is the password of the ranger's radio?", "pinecone", "2580"),
        ("de", "Wie heißt das WLAN?", "Camp-Gast", "22 Uhr"),
        ("de", "Wie hoch ist der Preis für ein Ruderboot?", "9 Euro", "Kanus"),
        ("wald", "Wie lautet die Telefonnummer des Försters?", "0341 55 01 34", "2580"),
        ("wald", "Wie lautet die E-Mail-Adresse des Försters?", "wald@camp.example", "Funk"),
        ("wald", "Wie lautet der Code für die Schranke des Försters?", "2580", "Funk"),
        ("wald", "Wie lautet das Passwort für das Funkgerät des Försters?", "Tannenzapfen", "2580"),
    ],
    "nothing is tagged on": [
        ("en", "How long does the course on sailing take?", "12 hours", "rowing"),
        ("en", "How long do the courses take?", "5 hours", "monthly"),
        ("en", "How often are fire drills held?", "monthly", "Courses"),
        ("en", "How much does a night in cabin Heron cost?", "62 euros", "enter"),
        ("de", "Wie lange dauert der Kurs im Segeln?", "12 Stunden", "Rudern"),
        ("de", "Wie lange dauern die Kurse?", "12 Stunden", "monatlich"),
        ("de", "Wie oft finden Feuerübungen statt?", "monatlich", "Kurse"),
    ],
    "the year that was asked for": [
        ("en", "How many visitors did the camp count in 2022?", "1,210", "1,840"),
        ("de", "Wie viele Besucher zählte das Camp im Jahr 2022?", "1.210", "1.840"),
        ("forest", "How many trees did the storm fell in 2021?", "40", "lake"),
        ("wald", "Wie viele Bäume fällte der Sturm im Jahr 2021?", "40", "See"),
    ],
}
"""Base, question, what the answer says and what it does not; also by other words than the
documents', which in German are capitalised as names are."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """As it ships, without a deadline; a base for each key of DOCUMENTS."""
    base = MEMORY if MEMORY.is_dir() else tmp_path_factory.getbasetemp()
    with tempfile.TemporaryDirectory(dir=base, prefix="crag-test-") as folder:
        unhurried = BudgetSettings(deadline_s=None)
        settings = GraphSettings(data_dir=Path(folder) / "crag", budget=unhurried)
        async with open_graph(settings) as service:
            index, writer = service.corpus.index, service.corpus.writer
            for name in DOCUMENTS:
                await writer.create_knowledge_base(LOCAL, name)
                written = write(name, Path(folder) / name)
                await ingest(written, scope=LOCAL, knowledge_base=name, index=index, writer=writer)
            yield service


def write(name: str, folder: Path) -> Path:
    folder.mkdir()
    for title, text in DOCUMENTS[name].items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "question"),
    [pytest.param(*one, id=f"{why}: {one[1]}") for why, asked in DECLINED.items() for one in asked],
)
async def test_what_is_not_there_is_declined(service: Service, name: str, question: str) -> None:
    answer = await service.runner.ask(Ask(question, name))
    assert answer.outcome == "refused", answer.answer
    assert answer.reason not in ("budget", "dependency_down"), answer.degraded


@pytest.mark.parametrize(
    ("name", "question", "wanted", "other"),
    [pytest.param(*one, id=f"{why}: {one[1]}") for why, asked in TOLD.items() for one in asked],
)
async def test_what_is_there_is_told_and_nothing_else(
    service: Service, name: str, question: str, wanted: str, other: str
) -> None:
    answer = await service.runner.ask(Ask(question, name))
    assert answer.outcome == "answered", answer.answer
    assert wanted in answer.answer
    assert other not in answer.answer
