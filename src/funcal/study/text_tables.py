"""Tables as Markdown and as one self-contained HTML page."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Section", "to_html", "to_markdown"]

STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:right}"
    "td:first-child,th:first-child{text-align:left}pre{background:#f4f4f4;padding:.6em}img{max-width:100%}"
)


@dataclass(frozen=True)
class Section:
    """A heading, words, and a table (or none): `header` and `rows` of text; `figures` are file names."""

    title: str
    text: str = ""
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    figures: tuple[str, ...] = ()


def to_markdown(
    title: str, command: str, sections: Sequence[Section], *, figure_folder: str | None = None
) -> str:
    """The report as Markdown; figures are linked only where their folder is given."""
    lines = [f"# {title}", "", "Rebuilt by:", "", "```", command, "```", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        if section.text:
            lines += [section.text, ""]
        if section.header:
            lines += ["| " + " | ".join(section.header) + " |"]
            lines += ["|" + "|".join([":--", *["--:"] * (len(section.header) - 1)]) + "|"]
            lines += ["| " + " | ".join(row) + " |" for row in section.rows]
            lines += [""]
        if figure_folder is not None:
            for name in section.figures:
                lines += [f"![{name}]({figure_folder}/{name})", ""]
    return "\n".join(lines)


def to_html(title: str, command: str, sections: Sequence[Section], *, figure_folder: str) -> str:
    """The report as a page."""
    parts = [
        "<!doctype html><meta charset='utf-8'>",
        f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
        f"<h1>{html.escape(title)}</h1><p>Rebuilt by:</p><pre>{html.escape(command)}</pre>",
    ]
    for section in sections:
        parts.append(f"<h2>{html.escape(section.title)}</h2>")
        if section.text:
            parts.append("".join(f"<p>{html.escape(part)}</p>" for part in section.text.split("\n\n")))
        if section.header:
            parts.append(
                "<table><tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in section.header) + "</tr>"
            )
            for row in section.rows:
                parts.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>")
            parts.append("</table>")
        parts += [f"<img src='{figure_folder}/{name}' alt='{html.escape(name)}'>" for name in section.figures]
    return "\n".join(parts) + "\n"
