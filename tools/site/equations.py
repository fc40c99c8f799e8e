"""Equations as MathML, which browsers draw themselves: no script, no font to fetch.

In the repository they are LaTeX in a block named `math`, or between $` and `$ in running text, as repository pages
render them.
"""

from __future__ import annotations

import re
import unicodedata

from latex2mathml.converter import convert

_BLOCK = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"\$`([^`]+)`\$")
_STYLED = re.compile(r'<mi mathvariant="(bold|script)">([A-Za-z])</mi>')


def rendered(text: str) -> str:
    """A page's text with its equations as MathML."""
    text = _BLOCK.sub(lambda match: f'<div class="equation">{_mathml(match[1], "block")}</div>', text)
    # in a span, or Markdown takes an equation that begins a line for a block
    return _INLINE.sub(lambda match: f"<span>{_mathml(match[1], 'inline')}</span>", text)


def _mathml(latex: str, display: str) -> str:
    return _STYLED.sub(_letter, convert(" ".join(latex.split()), display=display))


def _letter(match: re.Match[str]) -> str:
    """A bold or script letter as a character of its own: browsers no longer draw them by `mathvariant`."""
    case = "CAPITAL" if match[2].isupper() else "SMALL"
    name = f"{match[1].upper()} {case} {match[2].upper()}"
    try:
        return f"<mi>{unicodedata.lookup(f'MATHEMATICAL {name}')}</mi>"
    except KeyError:  # some were letters before there was mathematics
        return f"<mi>{unicodedata.lookup(name)}</mi>"
