r"""Tables for papers: LaTeX with booktabs, to be read in by \input.

>>> print(tabular(("method", "All"), [["phe_paper & co", "30.1 ± 0.2"]]), end="")
\begin{tabular}{lr}
\toprule
method & All \\
\midrule
phe\_paper \& co & $30.1 \pm 0.2$ \\
\bottomrule
\end{tabular}
"""

from __future__ import annotations

import re
from collections.abc import Sequence

NEEDS = "% needs \\usepackage{booktabs}\n"
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "−": "$-$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_NUMBER = r"[+-]?\d[\d,]*(?:\.\d+)?"
_FIGURE = re.compile(rf"({_NUMBER})(?: ± ({_NUMBER}))?")
_NUMERIC = re.compile(r"[\d./± ,+-]*")


def tabular(header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """A table of texts; columns of figures alone are set to the right, and notes follow as comments."""
    columns = "".join("r" if _is_numeric(column) else "l" for column in _columns(header, rows))
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _line(header), r"\midrule"]
    lines += [*map(_line, rows), r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {' '.join(note.split())}" for note in notes)]) + "\n"


def escaped(text: str) -> str:
    """Text that LaTeX sets as it is, on one line; Markdown's marks for code are left out."""
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.replace("`", "").split()))


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(map(_cell, cells))} \\\\"


def _cell(text: str) -> str:
    """A figure is set as mathematics, so that its sign is a minus; everything else as text."""
    if "/" in text and _NUMERIC.fullmatch(text):  # several in one cell
        return "/".join(map(_cell, text.split("/")))
    found = _FIGURE.fullmatch(text.strip())
    if found is None:
        inner = escaped(text)
        return f"{{{inner}}}" if inner.startswith("[") else inner  # which a line's end before it would take for its own
    value, deviation = (part and part.replace(",", "{,}") for part in found.groups())
    if deviation is not None:
        return rf"${value} \pm {deviation}$"
    return f"${value}$" if value[0] in "+-" else value


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[row[i] for row in rows] for i in range(len(header))]


def _is_numeric(column: Sequence[str]) -> bool:
    return any(column) and all(_NUMERIC.fullmatch(cell) for cell in column)
