"""Pages of the repository as pages of a site: their order, and their links, which lead to pages, to files beside them, or to the repository."""

import fnmatch
import os.path
import re

from figures import drawn

# Code, a link or an image, or the bare name of a page; what comes first in a text counts.
SPANS = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<image>!?)\[(?P<text>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>[^()\s]+)\)"
    r"|(?<![\w/.-])(?P<name>(?:docs/[\w/.-]+|[A-Z]{4,})\.md)\b",
    re.DOTALL,
)
FENCE = re.compile(r"(^```(?P<kind>[\w-]*)[^\n]*\n(?P<code>.*?)^```$)", re.MULTILINE | re.DOTALL)

# Characters that say what a page is about.
LINE = 60


class Fault(Exception):
    """What is wrong with a page."""


def arranged(parts, texts):
    """The parts of a site, each as its title and its pages, of which each is a path and whether it stands below the one before."""
    made, left = [], set(texts)
    for title, patterns in parts:
        entries = []
        for pattern in patterns:
            found = sorted(fnmatch.filter(left, pattern), key=lambda path: (not path.endswith("README.md"), path))
            if not found:
                raise Fault(f"there is no page {pattern}, which {title!r} is to have")
            left.difference_update(found)
            # The first page of a folder stands above the others.
            entries += [(path, "*" in pattern and not path.endswith("README.md")) for path in found]
        made.append((title, entries))
    if left:
        raise Fault(f"no part has the page {', '.join(sorted(left))}")
    return made


def title(text):
    """The heading of a page, without marks."""
    return text.split("\n", 1)[0].removeprefix("# ").strip()


def bare(text):
    """Text without marks of Markdown."""
    text = re.sub(r"!?\[((?:[^\[\]`]|`[^`]*`)*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\\(?=\W)|[*`]", "", " ".join(text.split()))


class Book:
    """A site of these texts, by their paths below the top of the repository."""

    def __init__(self, texts, top, repository):
        self.texts, self.top, self.repository = texts, top, repository
        # Files that pages show or lead to, which become part of the site.
        self.files = set()

    def place(self, path):
        """Where a page is in the source of the site. A page that is called index is what a browser shows of a folder."""
        return re.sub(r"README\.md$", "index.md", path)

    def page(self, path):
        """A page with its links as the site has them."""
        made, end = [], 0
        for fence in FENCE.finditer(self.texts[path]):
            made.append(self.linked(path, self.texts[path][end : fence.start()]))
            made.append(drawn(fence["code"]) if fence["kind"] == "mermaid" else shown(fence))
            end = fence.end()
        return "".join([*made, self.linked(path, self.texts[path][end:])])

    def linked(self, path, text):
        return SPANS.sub(lambda span: self.span(path, span), text)

    def span(self, path, span):
        if span["code"]:
            return span[0]
        if span["name"]:
            known = span["name"] in self.texts and span["name"] != path
            return self.link(path, bare(title(self.texts[span["name"]])), span["name"], "") if known else span[0]
        target, _, anchor = span["target"].partition("#")
        if "://" in target or not target:
            return span[0]
        file = os.path.normpath(os.path.join(os.path.dirname(path), target))
        anchor = f"#{anchor}" if anchor else ""
        if file in self.texts:
            # A page is called by its title where it is called by its file.
            is_named = span["text"].strip("`").endswith(".md")
            return self.link(path, bare(title(self.texts[file])) if is_named else span["text"], file, anchor)
        if not (self.top / file).exists():
            raise Fault(f"{path} has a link to {target}, which is not there")
        if span["image"] or file.endswith(".svg"):
            self.files.add(file)
            return span[0]
        # Outside of the site.
        return f"[{span['text']}]({self.repository}/{file}{anchor})" if self.repository else span["text"]

    def link(self, path, text, to, anchor):
        return f"[{text}]({os.path.relpath(self.place(to), os.path.dirname(path) or '.')}{anchor})"

    def described(self, path):
        """What a page is about: the first sentences of its first paragraph, as many as make a line."""
        for paragraph in re.split(r"\n\s*\n", FENCE.sub("", self.texts[path]))[1:]:
            if re.match(r"\w|\*\*|`|\"", paragraph) and not paragraph.startswith("Generated from"):
                # The label of a paragraph, such as "Context.", says nothing of the page.
                paragraph, said = re.sub(r"^\*\*\w+\.\*\*\s", "", paragraph), ""
                for sentence in re.split(r"(?<=[.:])\s+(?=[A-Z\"`])", bare(self.linked(path, paragraph))):
                    said = f"{said} {sentence}".strip()
                    if len(said) >= LINE:
                        break
                return said.rstrip(":.") + "."
        return bare(title(self.texts[path])) + "."

    def summary(self, parts):
        """The list of pages as mdBook takes it."""
        lines = ["# Summary"]
        for name, entries in parts:
            lines += ["", f"# {name}", ""]
            lines += [f"{'  ' * below}- [{title(self.texts[path])}]({self.place(path)})" for path, below in entries]
        return "\n".join(lines) + "\n"

    def index(self, parts, purpose):
        """The list of pages for programs, each with a sentence."""
        lines = ["# Vesica", "", f"> {purpose}"]
        for name, entries in parts:
            lines += ["", f"## {name}", ""]
            for path, _ in entries:
                address = self.place(path).removesuffix(".md") + ".html"
                lines.append(f"- [{bare(title(self.texts[path]))}]({address}): {self.described(path)}")
        return "\n".join(lines) + "\n"


def shown(fence):
    """Code; without a language it is what is typed and what is printed, and has no colours."""
    return fence[0] if fence["kind"] else f"```text\n{fence['code']}```"
