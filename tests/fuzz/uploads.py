"""Hostile uploads: broken files of every type, files that grow when read, and broken forms."""

import io
import zipfile

from hypothesis import strategies as st

from tests.fuzz.request import Header
from tests.fuzz.values import BOOLEANS, TEXTS

SUFFIXES = [".md", ".txt", ".html", ".pdf", ".docx", ".exe", "", ".MD", ".md.", ".tar.gz"]


def _zip(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return out.getvalue()


ANCHORS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">'
    b'<!ENTITY d SYSTEM "file:///etc/passwd">]><w:document>&c;&d;</w:document>'
)
FILES = [
    b"",
    b"\x00" * 100,
    b"# Title\n\nSome words of mine.\n",
    b"# Title\n\nSome words of mine.\n" * 500,
    b"---\nacl: group:hr\n---\n# A\n\nText.\n",
    b"---\nacl: ['*'\n---\nText.\n",
    b"---\ntitle: !!python/object/apply:os.system ['id']\n---\nText.\n",
    f"---\na0: &a0 [x]\n{ANCHORS}\n---\nText.\n".encode(),
    b"---\ndate: 2026-02-30\nversion: " + b"9" * 5_000 + b"\nlanguage: [a, b]\n---\nText.\n",
    b"---\n" + b"[" * 3_000 + b"\n---\nText.\n",
    b">" * 2_000 + b" deep\n",
    b"* " * 2_000 + b"deep\n",
    b"[" * 5_000 + b"(" * 5_000,
    b"|a" * 2_000 + b"|\n" + b"|-" * 2_000 + b"|\n",
    b"`" * 5_000,
    "\ufeffText with a mark\u202e and others.\ud800".encode("utf-8", "surrogatepass"),
    "Text in another coding, äöü.".encode("utf-16"),
    b"\xff\xfe\x00\xd8\x00\xd8",
    b"<div>" * 3_000 + b"text",
    b"<table>" + b"<tr><td colspan=99999 rowspan=99999>a" * 50 + b"</table>",
    b"<html><body><script>x</script><p style=display:none>hidden</p><p>shown</p>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]><p>&b;&#0;&#xd800;&#99999999;</p>",
    b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n<< /Type /Catalog /Pages 1 0 R >>\nendobj\nxref\n0 1\n",
    b"%PDF-1.4\n1 0 obj<</Length 99999999>>stream\nendstream\n%%EOF",
    b"PK\x03\x04 no zip",
    _zip(word__document_xml=LAUGHS, **{"[Content_Types]_xml": b"<Types/>"}),
    _zip(word__document_xml=b"<w>" * 20_000),
    _zip(word__document_xml=b" " * 30_000_000),
    _zip(**{"..__..__evil": b"x"}),
]


DISPOSITIONS = [
    b'Content-Disposition: form-data; name="files"; filename="NAME"',
    b'Content-Disposition: form-data; name="files"; filename="NAME"\r\nContent-Type: text/markdown',
    b'Content-Disposition: form-data; name="NAME"; filename="a.md"',
    b'Content-Disposition: form-data; name="files"',
    b"Content-Disposition: form-data; name=files; filename*=UTF-8''NAME",
    b"Content-Disposition: form-data; name=files; filename=NAME",
    b"Content-Disposition: form-data",
    b'Content-Disposition: attachment; filename="a.md"',
    b"Content-Type: text/plain",
    b'Content-Disposition: form-data; name="f"; filename="NAME"\r\nContent-Type: a/b; charset=no',
    b"NAME",
    b"",
]
CONTENTS = st.sampled_from(FILES) | st.binary(max_size=200)
ENDS = st.sampled_from([b"--", b"--", b"--", b"", b"-", b"\r\n--xYx"])
KINDS = st.sampled_from(SUFFIXES)
PARTS = st.lists(st.tuples(TEXTS, KINDS, st.sampled_from(DISPOSITIONS), CONTENTS), max_size=3)


def upload(draw: st.DrawFn) -> tuple[Header, bytes]:
    """The content type and the body."""
    if draw(BOOLEANS):
        return (b"content-type", b"application/octet-stream"), draw(CONTENTS)
    raw = b""
    for name, suffix, disposition, content in draw(PARTS):
        told = (name[:200] + suffix).encode("utf-8", "surrogatepass")
        told = told.replace(b"\r", b"").replace(b"\n", b"")
        raw += b"--xYx\r\n" + disposition.replace(b"NAME", told) + b"\r\n\r\n" + content + b"\r\n"
    return (b"content-type", b"multipart/form-data; boundary=xYx"), raw + b"--xYx" + draw(ENDS)
