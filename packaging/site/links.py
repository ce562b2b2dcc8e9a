"""Whether each link of a site leads to a place of it, and nothing is loaded from elsewhere."""

import html.parser
import re
from urllib.parse import unquote, urlsplit


class Page(html.parser.HTMLParser):
    """Where a page leads to, what it loads, and its places."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.places.update(filter(None, [named.get("id"), named.get("name") if tag == "a" else None]))
        if tag == "a" and "href" in named:
            self.links.append(named["href"] or "")
        elif tag == "link" and "href" in named:
            self.loads.append(named["href"] or "")
        elif "src" in named:
            self.loads.append(named["src"] or "")


def checked(folder):
    """How many links the pages of a folder have, and a line for each that leads nowhere or loads something from elsewhere."""
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    found, broken = 0, []
    for path, page in pages.items():
        name = path.relative_to(folder)
        for link in page.links + page.loads:
            found += 1
            parts = urlsplit(link)
            if parts.scheme in ("http", "https") and link in page.links or parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                broken.append(f"{name} loads {link} from elsewhere")
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.is_file() or folder not in to.parents:
                broken.append(f"{name} has a link to {link}, which is no file of the site")
            elif to in pages and unquote(parts.fragment) not in pages[to].places:
                broken.append(f"{name} has a link to {link}, and the page has no such place")
    for path in sorted(folder.rglob("*.css")):
        for link in re.findall(r"url\(\s*['\"]?(\w+://[^'\")]*)|@import", path.read_text()):
            broken.append(f"{path.relative_to(folder)} loads {link or 'another file'} from elsewhere")
    for line in (folder / "llms.txt").read_text().splitlines():
        for link in re.findall(r"^- \[.*?\]\(([^)]*)\): ", line):
            found += 1
            if not (folder / link).is_file():
                broken.append(f"llms.txt has a link to {link}, which is no file of the site")
    return found, broken
