"""Flow charts as text: mdBook draws none, and what draws them in a browser is larger than the whole site."""

import html
import re

NODE = re.compile(r'(\w+)(?:\["([^"]*)"\])?')
ARROW = re.compile(r"\s*-->(?:\|([^|]*)\|)?\s*")


def drawn(chart):
    """A list of the boxes of a chart, by the groups they stand in, each with the boxes that its arrows lead to."""
    names, groups, arrows = {}, {}, {}
    group = ""
    for line in chart.split("\n")[1:]:
        line = line.strip()
        if head := re.match(r'subgraph (\w+)(?: \["([^"]*)"\])?', line):
            group = head[2] or head[1]
            continue
        if not line or line == "end":
            group = "" if line else group
            continue
        place, last, label = 0, None, None
        while node := NODE.match(line, place):
            name, text = node.groups()
            if text:
                names[name] = text
                groups.setdefault(group, []).append(name)
            if last:
                arrows.setdefault(last, []).append((label, name))
            arrow = ARROW.match(line, node.end())
            if not arrow:
                break
            last, label, place = name, arrow[1], arrow.end()
    return "\n\n".join(listed(group, boxes, names, arrows) for group, boxes in groups.items())


def listed(group, boxes, names, arrows):
    lines = [f"**{group}**", ""] if group else []
    for box in boxes:
        title, _, about = names[box].partition("<br/>")
        leads = [(f"({label}) " if label else "") + plain(names[to].partition("<br/>")[0]) for label, to in arrows.get(box, [])]
        lines.append("- " + ": ".join(filter(None, [plain(title), plain(about)])) + "".join(f" → {to}" for to in leads[:1]))
        lines[-1] += "".join(f", {to}" for to in leads[1:])
    return "\n".join(lines)


def plain(text):
    return html.unescape(re.sub(r"<(/?)b>", "**", text))
