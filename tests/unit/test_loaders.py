"""Every type of file becomes readable text with blocks that point into it, or one LoadError."""

import io
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import METADATA_KEYS, LoadedDocument
from ingest.errors import LoadError, UnsupportedFile
from ingest.loaders import MAX_BYTES, SUPPORTED, load, load_bytes
from ingest.loaders.normalise import printable

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def blocks_of(document: LoadedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def loaded(name: str, text: str) -> LoadedDocument:
    return load_bytes(name, text.encode())


def docx(body: str, **parts: str) -> bytes:
    """A Word file with this body; further parts by their name without folder and suffix."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        xml = f"<w:document {WORD}><w:body>{body}</w:body></w:document>"
        archive.writestr("word/document.xml", xml)
        for name, content in parts.items():
            archive.writestr(f"{'docProps' if name == 'core' else 'word'}/{name}.xml", content)
    return file.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def pdf(*pages: list[tuple[int, str]]) -> bytes:
    """A PDF file; each page is lines of (size of type, text)."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for lines in pages:
        shown = " ".join(f"/F1 {size} Tf ({text}) Tj 0 -20 Td" for size, text in lines)
        stream = f"BT 50 700 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects) + 2} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    file, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF"
    return f"{file}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("latin-1")


def error_of(name: str, data: bytes) -> LoadError:
    with pytest.raises(LoadError) as caught:
        load_bytes(name, data)
    assert "\n" not in caught.value.message and caught.value.message.endswith(".")
    return caught.value


def test_markdown_becomes_the_text_a_reader_sees() -> None:
    source = "# Sync\n\nSet **`sync.retry_max`** to [three](https://x.y), see <kb>.\n\n> Quoted.\n"
    assert (
        loaded("a.md", source).text == "Sync\n\nSet sync.retry_max to three, see <kb>.\n\nQuoted."
    )


def test_markdown_resolves_references_and_escapes() -> None:
    assert loaded("a.md", "a \\*b\\* [c][d] &amp; `e`\n\n[d]: https://x.y").text == "a *b* c & e"


def test_brackets_without_end_take_no_quadratic_time() -> None:
    started = time.process_time()
    assert loaded("a.md", "![[" * 100_000).text.startswith("![[")
    assert time.process_time() - started < 2


def test_markdown_list_items_keep_their_marks_and_depth() -> None:
    document = loaded("a.md", "3. three\n   wrapped\n4. four\n   - inner\n")
    assert document.text == "3. three wrapped\n4. four\n\n- inner".replace("\n\n", "\n  ")
    assert [block.level for block in document.blocks] == [0, 0, 1]


def test_markdown_code_is_kept_verbatim() -> None:
    document = loaded("a.md", "```py\nif  x:\n\n\treturn **y**\n```\n")
    assert blocks_of(document) == [("code", "if  x:\n\n\treturn **y**")]


def test_markdown_table_rows_carry_their_headers() -> None:
    source = "| Plan | Price | Seats |\n|---|---|---|\n| Pro | 49 € | 5 |\n| Free | 0 € | |\n"
    document = loaded("a.md", source)
    assert document.text == "Plan: Pro | Price: 49 € | Seats: 5\nPlan: Free | Price: 0 €"
    assert {block.kind for block in document.blocks} == {"table_row"}


def test_html_inside_markdown_is_read_as_html() -> None:
    source = (
        "<!-- no -->\n\n<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    assert loaded("a.md", source).text == "A: 1 | B: 2"


def test_front_matter_becomes_metadata_and_leaves_the_text() -> None:
    source = (
        "---\ntitle: Plans\nversion: 1.10\neffective: 2024-3-4\ntags: [billing, eu]\n"
        "status: Superseded\nlanguage: en-US\nsecret: 1\n---\nText."
    )
    document = loaded("a.md", source)
    assert (document.title, document.text) == ("Plans", "Text.")
    assert document.metadata == {
        "version": "1.10",
        "effective": "2024-03-04",
        "tags": "billing,eu",
        "status": "superseded",
        "language": "en",
    }


@pytest.mark.parametrize("date", ["2026-13-45", "2025-02-29", "0000-01-01", "01.03.2026", "2026"])
@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.md", "---\neffective: {}\n---\nText."),
        ("a.html", "<meta name=effective content={}>Text."),
    ],
)
def test_a_date_that_there_is_not_is_an_error_of_its_document(
    name: str, source: str, date: str
) -> None:
    with pytest.raises(LoadError, match=f"Its effective '{date}' is no date") as refused:
        loaded(name, source.format(date))
    assert refused.value.code == "invalid_metadata"


def test_words_for_a_date_declare_none() -> None:
    assert "effective" not in loaded("a.md", "---\neffective: soon\n---\nText.").metadata


@pytest.mark.parametrize("matter", ["a: [", "a: b: c", "[" * 5000, "- x", "a: &a [*a]"])
def test_broken_front_matter_declares_nothing(matter: str) -> None:
    document = loaded("a.md", f"---\n{matter}\n---\nText.")
    assert document.text.endswith("Text.") and document.metadata == {}


def test_a_thematic_break_at_the_top_is_no_front_matter() -> None:
    assert loaded("a.md", "---\nFirst words.\n\n---\nLast.").text == "First words.\n\nLast."


@pytest.mark.parametrize(
    ("name", "source", "title"),
    [
        ("x.md", "---\ntitle: Given\n---\n# Heading\n", "Given"),
        ("x.html", "<title>Tool</title><h1>Heading</h1>", "Heading"),
        ("x.html", "<title>Tool</title><p>Text", "Tool"),
        ("billing-and_plans.txt", "Text", "Billing and plans"),
    ],
)
def test_the_title_is_the_authors_before_the_tools(name: str, source: str, title: str) -> None:
    assert loaded(name, source).title == title


def test_html_keeps_the_main_content_only() -> None:
    source = (
        "<html lang=de><meta name=owner content=Ops><nav>Menu</nav>"
        "<main><header><h1>T</h1></header><script>x</script><p hidden>no</p>"
        "<p style='display: none'>no</p><p>a<!-- c --><b>b</b><br>c</p>"
        "<pre>x  = 1</pre><aside>no</aside></main><footer>Imprint</footer>"
    )
    document = loaded("a.html", source)
    assert document.text == "T\n\nab\nc\n\nx  = 1"
    assert document.metadata == {"owner": "Ops", "language": "de"}


def test_html_tables_resolve_spans_and_several_header_rows() -> None:
    source = (
        "<table><thead><tr><th rowspan=2>Plan<th colspan=2>2024<tr><th>Net<th>Gross</thead>"
        "<tr><td rowspan=2>Pro<td>1<td>2<tr><td>3<td>4</table>"
    )
    expected = "Plan: Pro | 2024 Net: 1 | 2024 Gross: 2\nPlan: Pro | 2024 Net: 3 | 2024 Gross: 4"
    assert loaded("a.html", source).text == expected


def test_a_table_without_headers_joins_its_cells() -> None:
    source = "<table><tr><td>a<td>b<td>c<tr><td>d<td><p>e</p><p>f</p></table>"
    assert loaded("a.html", source).text == "a | b | c\nd | e f"


def test_html_nested_a_thousand_deep_is_read() -> None:
    assert loaded("a.html", "<div>" * 1000 + "deep").text == "deep"


def test_html_nested_without_end_is_refused() -> None:
    assert error_of("a.html", b"<b>" * 500_000 + b"x").code == "broken"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "Größe: 3 €"),
        ("utf-16", "Größe: 3 €"),
        ("utf-16-le", "Plain words of text"),
        ("utf-32", "Größe: 3 €"),
        ("cp1252", "Die Größe der Räume beträgt “drei” – für 5 €."),
        ("shift_jis", "日本語の文章です。これは文字コードの判定のための長い文章です。" * 3),
        ("cp1251", "Это обычный русский текст, который должен быть прочитан верно." * 3),
    ],
)
def test_text_is_decoded_whatever_its_encoding(encoding: str, text: str) -> None:
    assert load_bytes("a.txt", text.encode(encoding)).text == text


def test_a_page_that_declares_the_wrong_encoding_is_read_all_the_same() -> None:
    source = "<meta charset=windows-1251><p>Größe</p>"
    assert load_bytes("a.html", source.encode()).text == "Größe"
    assert load_bytes("a.html", source.replace("1251", "1252").encode("cp1252")).text == "Größe"


def test_invisible_characters_and_line_ends_are_normalised() -> None:
    source = "\ufeffa\u200bb\u202ec\u00a0d e\u0301\U000e0041\r\nf\x00".replace("\x00", "\x0c")
    assert loaded("a.txt", source).text == "abc d é\nf"


def test_wrapped_lines_of_text_are_joined_and_short_ones_kept() -> None:
    wrapped = (
        "This is a paragraph that somebody has wrapped at about seventy chars,\n"
        "and it goes on in a second line that is as long as the first one was,\n"
        "up to here with a hyphen-\nated word.\n\nAcme Inc.\nMain Street 1\n\n- one\n- two\n"
    )
    kinds = blocks_of(loaded("a.txt", wrapped))
    assert kinds[0][1].endswith("up to here with a hyphenated word.")
    assert [text for _, text in kinds[1:]] == ["Acme Inc.", "Main Street 1", "- one", "- two"]
    assert [kind for kind, _ in kinds] == ["paragraph"] * 3 + ["list_item"] * 2


def test_pdf_text_knows_its_page_and_its_headings() -> None:
    document = load_bytes("a.pdf", pdf([(20, "Limits"), (11, "Ten seats.")], [(11, "Five keys.")]))
    found = [(block.kind, block.page, block.level) for block in document.blocks]
    assert document.text == "Limits\n\nTen seats.\n\nFive keys."
    assert found == [("heading", 1, 2), ("paragraph", 1, 0), ("paragraph", 2, 0)]


def test_a_sentence_cut_by_the_page_break_is_one_paragraph() -> None:
    document = load_bytes("a.pdf", pdf([(11, "Refunds take five busi-")], [(11, "ness days.")]))
    assert document.text == "Refunds take five business days."
    assert document.blocks[0].page == 1


def test_lines_on_most_pages_of_a_pdf_are_dropped() -> None:
    pages = [
        [
            (11, "Acme"),
            *((11, f"Fact {page * 7}.{n} is so.") for n in range(8)),
            (11, f"page {page}"),
        ]
        for page in range(1, 6)
    ]
    text = load_bytes("a.pdf", pdf(*pages)).text
    assert "Acme" not in text and "page 3" not in text and "Fact 21.0 is so." in text


def test_pdf_without_text_needs_ocr() -> None:
    error = error_of("a.pdf", pdf([]))
    assert error.code == "no_text" and "OCR" in error.message


def test_pdf_with_a_password_is_encrypted() -> None:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf([(11, "Secret")]))))
    for password, code in (("secret", "encrypted"), ("", "")):
        writer.encrypt(password, "owner", algorithm="RC4-128")
        file = io.BytesIO()
        writer.write(file)
        if code:
            assert error_of("a.pdf", file.getvalue()).code == code
        else:
            assert load_bytes("a.pdf", file.getvalue()).text == "Secret"


def test_docx_has_headings_lists_and_tables_in_order() -> None:
    styles = (
        f'<w:styles {WORD}><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Eigene"><w:basedOn w:val="berschrift1"/></w:style></w:styles>'
    )
    numbering = (
        f'<w:numbering {WORD}><w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0">'
        '<w:numFmt w:val="decimal"/></w:lvl></w:abstractNum><w:num w:numId="1">'
        '<w:abstractNumId w:val="7"/></w:num></w:numbering>'
    )
    item = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    cells = [f"<w:tc>{paragraph(text)}</w:tc>" for text in ("Plan", "Price", "Pro", "49 €")]
    table = (
        f'<w:tbl><w:tblPr><w:tblLook w:val="04A0"/></w:tblPr><w:tr>{cells[0]}{cells[1]}</w:tr>'
        f"<w:tr>{cells[2]}{cells[3]}</w:tr></w:tbl>"
    )
    control = f"<w:sdt><w:sdtContent>{paragraph('In a control.')}</w:sdtContent></w:sdt>"
    title = paragraph("Plans", '<w:pStyle w:val="Eigene"/>')
    data = docx(
        title + paragraph("one", item) + table + paragraph("two", item) + control,
        styles=styles,
        numbering=numbering,
    )
    assert blocks_of(load_bytes("a.docx", data)) == [
        ("heading", "Plans"),
        ("list_item", "1. one"),
        ("table_row", "Plan: Pro | Price: 49 €"),
        ("list_item", "2. two"),
        ("paragraph", "In a control."),
    ]


def test_docx_leaves_out_deleted_and_hidden_text() -> None:
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
    deleted = "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
    data = docx(f"<w:p>{hidden}{deleted}<w:r><w:t>kept</w:t></w:r></w:p>")
    assert load_bytes("a.docx", data).text == "kept"


def test_docx_properties_are_metadata() -> None:
    core = (
        "<p><title>Given</title><keywords>a; b</keywords><contentStatus>Draft</contentStatus></p>"
    )
    document = load_bytes("a.docx", docx(paragraph("Text"), core=core))
    assert document.title == "Given"
    assert document.metadata == {"tags": "a,b", "status": "draft"}


@pytest.mark.parametrize(
    "entity", ['SYSTEM "file:///etc/passwd"', f'"{"y" * 1000}"><!ENTITY z "{"&x;" * 1000}"']
)
def test_docx_with_xml_entities_is_refused(entity: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        xml = f"<w:document {WORD}><w:body>{paragraph('&x;ok')}</w:body></w:document>"
        archive.writestr("word/document.xml", f"<!DOCTYPE a [<!ENTITY x {entity}>]>{xml}")
    assert error_of("a.docx", file.getvalue()).code == "broken"


def test_a_zip_bomb_is_too_large() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(50_000_000))
    assert error_of("a.docx", file.getvalue()).code == "too_large"


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.txt", b"", "empty"),
        ("a.md", b" \n\t ", "empty"),
        ("a.html", b"<script>x</script>", "no_text"),
        ("a.md", b"---\ntitle: T\n---\n", "no_text"),
        ("a.txt", bytes(range(256)) * 8, "broken"),
        ("a.txt", b"\xff\xfe\x00", "broken"),
        ("a.md", b"\xef\xbb\xbf\xff\xfe", "broken"),
        ("a.html", b"\xff\xfe\x00\xd8\x00\xd8\x00\xd8", "broken"),
        ("a.txt", "\ufffd \ufffd".encode(), "no_text"),
        ("a.html", b"<p>&#xFFFD;</p>", "no_text"),
        ("a.pdf", b"no pdf at all", "broken"),
        ("a.pdf", b"%PDF-1.7\nand then nothing", "broken"),
        ("a.docx", b"PK\x03\x04 truncated", "broken"),
        ("a.docx", bytes.fromhex("d0cf11e0a1b11ae1") + b"Word 97", "broken"),
        (
            "a.docx",
            bytes.fromhex("d0cf11e0a1b11ae1") + "EncryptedPackage".encode("utf-16-le"),
            "encrypted",
        ),
        ("a.txt", b"a" * (MAX_BYTES + 1), "too_large"),
        ("a.xlsx", b"PK", "unsupported"),
        ("README", b"text", "unsupported"),
    ],
)
def test_each_trouble_has_its_code(name: str, data: bytes, code: str) -> None:
    assert error_of(name, data).code == code


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("How\x1b[31m long?", "How [31m long?"),
        ("a\x00b\x07c\x7fd\x9be", "a b c d e"),
        ("a\r\nb\tc\rd\x85e", "a\nb\tc\nd\ne"),
        ("re\u00adfunds \u202eevil\u200b\ud800", "refunds evil"),
        ("e\u0301", "é"),
        ("Größe für 3 €?", "Größe für 3 €?"),
    ],
)
def test_a_control_character_becomes_a_space(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def test_a_file_that_cannot_be_opened_is_a_load_error(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.txt", tmp_path):
        with pytest.raises(LoadError):
            load(path)
    (tmp_path / "a.md").write_text("# Hi")
    assert load(tmp_path / "a.md").title == "Hi"


def test_the_language_is_guessed_the_same_way_each_time() -> None:
    german = "Die Reisekosten werden innerhalb von dreißig Tagen abgerechnet und erstattet. " * 5
    assert {loaded("a.txt", german).metadata["language"] for _ in range(5)} == {"de"}
    assert loaded("a.txt", "Kurz.").metadata == {}


def test_importing_the_loaders_imports_no_parser() -> None:
    code = "import sys, ingest.loaders; print(*sys.modules)"
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    heavy = {"pypdf", "lxml", "markdown_it", "yaml", "langdetect", "charset_normalizer"}
    assert not heavy & set(run.stdout.split())


MARKUP = st.lists(
    st.sampled_from(
        "# |- |1. |> |**|`|```\n|[a](b)|<p>|<table>|<tr>|<td>|<li>|</div>|\n|\n\n|---\n"
        "|a: b\n|é|\u200b|\x00|\x85| |\t|word |Sentence. |&amp;|<!--".split("|")
    )
).map(lambda parts: "".join(parts).encode())
PREFIXES = [b"", b"%PDF-1.4\n", b"PK\x03\x04", docx(paragraph("x"))[:200], pdf([(9, "x")])[:300]]


@pytest.mark.parametrize("suffix", SUPPORTED)
@settings(max_examples=60, deadline=None)
@given(prefix=st.sampled_from(PREFIXES), data=st.binary(max_size=400) | MARKUP)
def test_any_bytes_give_a_sound_document_or_a_load_error(
    suffix: str, prefix: bytes, data: bytes
) -> None:
    try:
        document = load_bytes(f"a{suffix}", prefix + data)
    except LoadError as error:
        assert not isinstance(error, UnsupportedFile)
        return
    end = 0
    covered = ""
    for block in document.blocks:
        assert end <= block.start < block.end
        end = block.end
        covered += document.text[block.start : block.end]
    assert "".join(covered.split()) == "".join(document.text.split())
    assert document.metadata.keys() <= set(METADATA_KEYS)
