"""Checks the mechanical part of the project's English: `python tests/prose.py [--count] [KIND...]`.

The kinds, all of them by default, are:
`width`     comments and docstrings of Rust and Python wrap at 100 columns
`sentence`  Markdown has one sentence a line
`phrase`    the field's terms instead of a private dialect
`opening`   no doc comment begins with "What" or "That"
`subject`   commit subjects have the form of CONTRIBUTING.md
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parent.parent
WIDTH = 100

#: Phrases of the private dialect, as regular expressions, and the field's term for each. A space
#: matches any gap, including a line break inside a comment.
PHRASES = {
    r"so-manieth|so manieth|how manieth": "every Nth",
    r"so many (?!as\b|that\b|and so many that\b)": "the number, by its name",
    r"of the same,": "name what is the same",
    r"that (is|are) none\b": "invalid, none",
    r"(attempts?|tries) in vain": "failed attempts",
    r"one's own\b": "user-defined",
    r"(?:begins?|began|starts?|started) anew": "restart",
    r"\bstart again after (?:a|the) timeout": "RTO",
    r"\b(?:is|was|are|were|be|being) told of\b": "is notified of, receives",
    r"\bof late\b": "recent",
    r"\b(?:sent|sends?|sending) again\b": "retransmitted",
    r"\bdoes not get there\b|\bnever gets there\b": "is lost, is dropped",
    r"\bwhat (?:the|its|a) path holds\b": "BDP",
    r"\bthr(?:ow|ows|ew|own|owing)(?: (?:that|the) data)? away\b": "discard",
    r"\bwho(?:ever)? has (?:it|got)\b": "name the owner",
    r"\bmarks? of congestion\b": "CE mark",
    r"\btime of (?:a|the) repair\b": "recovery",
    r"\bhas got\b": "has",
}
OPENING = re.compile(r"\s*(?:What|That)\b")
#: Commits after this one have a subject in the form of CONTRIBUTING.md; earlier ones cannot change.
SUBJECTS_SINCE = "bdc263f"
SUBJECT = re.compile(r"(?:[a-z0-9_.+/-]+(?:, [a-z0-9_.+/-]+)*: \S.*[^.\s])|(?:Merge .*)|(?:Revert .*)")
SUBJECT_WIDTH = 72

#: Pages written by a program, and texts of others.
NOT_OURS = ("report/library/", "fuzz/corpus/", "tests/logs/", "LICENSE")
GENERATED = (
    "docs/scorecards.md", "docs/quic-parity.md", "docs/quic-others.md", "docs/transports.md", "docs/validation-ns2.md",
    "docs/ns2-grid.md",
)  # fmt: skip
#: The words themselves are listed here and in the test.
ABOUT_WORDS = ("tests/prose.py", "tests/python/test_prose.py")

RUST = re.compile(
    r"""(?P<string>b?r(?P<hash>\#*)".*?"(?P=hash)|b?"(?:\\.|[^"\\])*")|(?P<char>b?'(?:\\[^\n]+?|[^'\\\n])')|(?P<comment>//[^\n]*|/\*.*?\*/)""",
    re.DOTALL | re.VERBOSE,
)
GAP = r"(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:///?|//!|\#:?|\*)[ \t]+)?)"
PATTERNS = {re.compile(phrase.replace(" ", GAP), re.IGNORECASE): term for phrase, term in PHRASES.items()}

#: Lines of Markdown that are no text: headings, tables, quotations, HTML, admonitions, addresses,
#: rules.
STRUCTURE = re.compile(r"\s*(#|\||>|<|!!!|\?\?\?|\[[^\]]+\]: |---|===)")
#: Where a sentence ends, if what follows can begin one. Abbreviations and initials end none.
END = re.compile(r"""(?<=[.!?])(?P<close>[)\]"'*_`]*)[ ]+(?=["'(\[*_`$]*[A-Z0-9`$\[])""")
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|[Ff]igs?|[Ee]qs?|[Ss]ec|[Nn]o|pp?|approx|incl|[A-Z])|\.\.)\.$"
)
MARKER = re.compile(r"(?P<indent> *)(?P<marker>[*+-]|\d+[.)]) +")
#: Ends of lines inside a paragraph: full stops, colons before lists, lists of links, hard breaks.
STOPS = re.compile(r"""[.!?:;·,\\]?(?<=[.!?:;·\\])["')\]*_`]*$|<br>$""")


@dataclass(frozen=True)
class Finding:
    """One place that breaks a rule."""

    kind: str
    path: str
    line: int
    text: str


def comments(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line of a comment or docstring.

    Python's comments behind code are left out, which address linters, and so is the first line of
    a docstring: a summary has one line, up to the formatter's width.
    """
    if path.endswith(".rs"):
        for found in RUST.finditer(text):
            if found["comment"]:
                first = text.count("\n", 0, found.start()) + 1
                start = text.rfind("\n", 0, found.start()) + 1
                end = text.find("\n", found.end())
                block = text[start : end if end >= 0 else len(text)]
                for number, line in enumerate(block.split("\n"), first):
                    yield number, line
        return
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line = lines[token.start[0] - 1]
            if not line[: token.start[1]].strip():
                yield token.start[0], line
    for node in docstrings(text):
        for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1):
            yield number, lines[number - 1]


def docstrings(text: str) -> Iterator[ast.Constant]:
    """Yield the docstrings of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first.value


def widths(path: str, text: str) -> Iterator[Finding]:
    """Find comment lines beyond 100 columns, except examples and addresses."""
    for number, line in comments(path, text):
        words = line.strip().lstrip("/!#:*").split()
        if len(line) > WIDTH and len(words) > 1 and not re.match(r">>>|\.\.\.|\[.*\]:", words[0]):
            yield Finding("width", path, number, line.strip())


def openings(path: str, text: str) -> Iterator[Finding]:
    """Find doc comments that begin with "What" or "That"."""
    if path.endswith(".py"):
        for node in docstrings(text):
            if OPENING.match(str(node.value)):
                yield Finding("opening", path, node.lineno, str(node.value).split("\n")[0])
    mark = re.compile(r"\s*(///|//!)(.*)" if path.endswith(".rs") else r"\s*(#:)(.*)")
    before = None
    for number, line in enumerate(text.split("\n"), 1):
        found = mark.match(line)
        if found and before != found[1] and OPENING.match(found[2]):
            yield Finding("opening", path, number, line.strip())
        before = found[1] if found else None


def phrases(path: str, text: str) -> Iterator[Finding]:
    """Find the private dialect."""
    if path in ABOUT_WORDS:
        return
    for pattern, term in PATTERNS.items():
        for found in pattern.finditer(text):
            number = text.count("\n", 0, found.start()) + 1
            yield Finding("phrase", path, number, f'"{" ".join(found[0].split())}": write {term}')


@dataclass
class Paragraph:
    """A paragraph or an item of a list: its first line, what stands before its text, and its lines of text."""

    line: int
    lead: str
    lines: list[str]


def sentences(text: str) -> list[str]:
    """Split a text on one line into its sentences."""
    found, start = [], 0
    depth = code_spans(text)
    for end in END.finditer(text):
        head = text[start : end.start()]
        if ABBREVIATION.search(head) or depth[end.start()] or MARKER.match(text[end.end() :] + " "):
            continue
        if re.match(r"[#>|:=~-]", text[end.end() :]):
            continue
        found.append(text[start : end.start() + len(end["close"])])
        start = end.end()
    return [*found, text[start:]]


def code_spans(text: str) -> list[bool]:
    """Return for each position whether it is inside a code span, a formula, or the brackets of a link."""
    inside = [False] * (len(text) + 1)
    for span in re.finditer(r"(`+).+?\1|\$[^$]+\$|\[[^\]]*\]\([^)]*\)|\([^()]*\)", text):
        for place in range(span.start(), span.end()):
            inside[place] = True
    return inside


def prose_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of a page, and whether it is prose: not code, a formula or a comment."""
    fence, formula, comment = "", False, False
    for line in text.split("\n"):
        stripped = line.strip()
        opening = re.match(r"\s*(```+|~~~+)", line)
        if fence:
            fence = "" if stripped.startswith(fence) else fence
            yield line, False
        elif opening:
            fence = opening[1]
            yield line, False
        elif formula or stripped.startswith("$$"):
            formula ^= stripped.count("$$") % 2 == 1
            yield line, False
        elif comment or stripped.startswith("<!--"):
            comment = "-->" not in stripped
            yield line, False
        else:
            yield line, bool(stripped) and not STRUCTURE.match(line)


def paragraphs(text: str) -> Iterator[Paragraph | str]:
    """Yield the paragraphs and list items of a Markdown page, and every other line as it is."""
    current: Paragraph | None = None
    for number, (line, prose) in enumerate(prose_lines(text), 1):
        item = MARKER.match(line) if prose else None
        indent = len(line) - len(line.lstrip())
        if current and prose and not item and (not current.lead.strip() or indent <= len(current.lead)):
            current.lines.append(line.strip())
            continue
        if current:
            yield current
            current = None
        if item:
            current = Paragraph(number, item[0], [line[item.end() :].rstrip()])
        elif prose and indent < 4:
            current = Paragraph(number, " " * indent, [line.strip()])
        else:
            yield line
    if current:
        yield current


def sentence_lines(path: str, text: str) -> Iterator[Finding]:
    """Find lines of Markdown with several sentences, and sentences on several lines."""
    if path in GENERATED:
        return
    for paragraph in paragraphs(text):
        if isinstance(paragraph, str):
            continue
        for offset, line in enumerate(paragraph.lines):
            last = offset == len(paragraph.lines) - 1
            if len(sentences(line)) > 1 or not (last or STOPS.search(line)):
                yield Finding("sentence", path, paragraph.line + offset, line)


def subjects() -> Iterator[Finding]:
    """Find commits whose subject is not `area: imperative summary`; none where there is no history."""
    command = ["git", "log", "--no-merges", "--format=%h %s", f"{SUBJECTS_SINCE}..HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines() if done.returncode == 0 else []:
        commit, _, subject = line.partition(" ")
        if not SUBJECT.fullmatch(subject) or len(subject) > SUBJECT_WIDTH:
            yield Finding("subject", commit, 0, subject)


KINDS: dict[str, tuple[tuple[str, ...], Callable[[str, str], Iterator[Finding]]]] = {
    "width": ((".rs", ".py"), widths),
    "sentence": ((".md",), sentence_lines),
    "phrase": ((".rs", ".py", ".pyi", ".toml", ".md", ".c", ".html", ".js", ".ts"), phrases),
    "opening": ((".rs", ".py"), openings),
}


def files() -> list[str]:
    """Return the project's files that git knows, by path."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in done.stdout.splitlines() if not any(other in path for other in NOT_OURS)]


def findings(kinds: list[str]) -> Iterator[Finding]:
    """Find everything of these kinds in the tree."""
    for path in files():
        if not (ROOT / path).is_file():
            continue
        checks = [check for kind, (endings, check) in KINDS.items() if kind in kinds and path.endswith(endings)]
        if checks:
            text = (ROOT / path).read_text(encoding="utf-8")
            for check in checks:
                yield from check(path, text)
    if "subject" in kinds:
        yield from subjects()


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join([*KINDS, 'subject'])}")
    parser.add_argument("--count", action="store_true", help="the number of findings of each kind only")
    options = parser.parse_args()
    unknown = set(options.kinds) - {*KINDS, "subject"}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: the kinds are {', '.join([*KINDS, 'subject'])}")
    found = list(findings(options.kinds or [*KINDS, "subject"]))
    if options.count:
        for kind, count in Counter(each.kind for each in found).most_common():
            sys.stdout.write(f"{kind} {count}\n")
    else:
        for each in found:
            sys.stdout.write(f"{each.path}:{each.line}: {each.kind}: {each.text}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
