"""Pages of commands, made from what the program prints with --help."""

import re
import subprocess

# Sections of the help whose lines are laid out by hand.
AS_THEY_ARE = ("Usage", "Examples", "First steps", "Exit codes")


def said(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True, env={"COLUMNS": "100"}).stdout


def purpose(program):
    """What the program is for, in a line."""
    return said(program, "--help").split("\n", 1)[0]


def pages(program):
    """A page for the program and for each of its commands, which has the commands below it, by their paths."""
    made = {"commands/README.md": "# The command `vesica`\n\n" + section(said(program, "--help"), "", 2)}
    for name in below(said(program, "--help")):
        made[f"commands/{name}.md"] = f"# `vesica {name}`\n\n" + "\n".join(whole(program, [name]))
    return made


def whole(program, words):
    """The help of a command and of those below it."""
    text = said(program, *words, "--help")
    name = "-".join(words)
    yield section(text, name, 1 + len(words))
    for further in below(text):
        yield f"{'#' * (1 + len(words))} `vesica {' '.join(words)} {further}`\n"
        yield from whole(program, [*words, further])


def below(text):
    """The commands that a help lists."""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    names = re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []
    return [name for name in names if name != "help"]


def section(text, name, level):
    """A help in Markdown: a heading for each of its parts and each flag, paragraphs without their line ends."""
    lines, part, made = text.rstrip().split("\n"), "", []
    for block in re.split(r"\n(?=\S[^\n]*:\n)|\n\n(?=Usage: )|\n\n(?=\S)", "\n".join(lines)):
        head = re.match(r"(\S[^\n:]*):(?:\n| (?=vesica))", block)
        if not head:
            made.append(paragraphs(block, 0))
            continue
        part, rest = head[1], block[head.end() :]
        made.append(f"{'#' * level} {part}\n")
        if part in AS_THEY_ARE:
            made.append(f"```text\n{undented(rest)}\n```\n")
        elif part == "Commands":
            made.append(commands(rest, name))
        else:
            made.append(flags(rest, name, level + 1))
        if made[-1] == "":
            del made[-2:]
    return "\n".join(made)


def undented(text):
    return re.sub(r"^  ", "", text.strip("\n"), flags=re.MULTILINE)


def commands(text, name):
    """A list of commands, each with a link to its page or its part of this page."""
    entries = re.findall(r"^  (\S+) +(.*(?:\n {4,}.*)*)", text, re.MULTILINE)
    return "".join(
        f"- {linked(word, name)}: {plain(' '.join(about.split()))}\n" for word, about in entries if word != "help"
    )


def linked(word, name):
    return f"`{word}`" if name else f"[`{word}`]({word}.md)"


def flags(text, name, level):
    """Flags and arguments, each with its description."""
    made = []
    for entry in re.split(r"\n(?= {2,6}(?:-|\[|<))", "\n" + text.strip("\n")):
        if not entry.strip():
            continue
        head, _, about = entry.strip("\n").partition("\n")
        words = head.strip()
        # A short help has the description in the same line.
        words, _, short = words.partition("  ")
        long = re.search(r"--([a-z0-9-]+)", words)
        if long and (long[1] == "help" or long[1] == "verbose" and name):
            continue
        anchor = "-".join(filter(None, [name, long[1] if long else re.sub(r"[^a-z]", "", words.lower())]))
        made.append(f"{'#' * level} `{words}` {{#{anchor}}}\n\n{paragraphs(short or about, 10)}")
    return "\n".join(made)


def paragraphs(text, indent):
    """Paragraphs and lists of values, whose lines begin behind so many spaces."""
    made = []
    for paragraph in re.split(r"\n\s*\n", re.sub(rf"^ {{0,{indent}}}", "", text, flags=re.MULTILINE).strip("\n")):
        intro, *values = re.split(r"\n(?=- )", "\n" + paragraph)
        if intro.strip():
            made.append(plain(" ".join(intro.split())) + "\n")
        for value in values:
            word, _, about = " ".join(value[2:].split()).partition(": ")
            made.append(f"- `{word}`{': ' + plain(about) if about else ''}")
        if values:
            made.append("")
    return "\n".join(made)


def plain(text):
    """Text in which nothing is Markdown but code: what is typed stands between backticks already, or looks like a flag."""
    parts = re.split(r"(`[^`]*`|(?<![\w-])--?[a-z][a-z-]*(?: [A-Z]+)?\b)", text)
    for place, part in enumerate(parts):
        if place % 2:
            parts[place] = part if part.startswith("`") else f"`{part}`"
        else:
            parts[place] = re.sub(r"([\\*_<>\[\]#])", r"\\\1", part)
    return "".join(parts)
