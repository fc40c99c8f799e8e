"""Tables for papers: what LaTeX would stumble over is escaped, and the structure is booktabs'."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from firstsight.reproduce.tables.latex import escaped, tabular
from firstsight.reproduce.tables.sheet import Cell, Difference, Mean, Sheet

SPECIAL = re.compile(r"(?<!\\)[&%#_~^<>|]")


def test_a_sheet_is_a_table_that_booktabs_rules() -> None:
    rows: list[list[Cell]] = [
        ["phe", 12, Mean(36.4, 0.5), Difference(-1.0, 2.0, float("nan"))],
        ["ncm & k", 1_000, None, None],
    ]
    text = Sheet(("method", "bits", "All", "difference"), rows, ("100 % of it",)).latex()
    assert text.splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r"method & bits & All & difference \\",
        r"\midrule",
        r"phe & 12 & $36.4 \pm 0.5$ & $-1.0$/$+2.0$/- \\",
        r"ncm \& k & 1000 &  &  \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% 100 % of it",
    ]


@given(st.text(max_size=40))
def test_whatever_a_method_is_called_stays_one_cell_of_one_line(name: str) -> None:
    (line,) = tabular(("method", "All"), [[name, "1.0"]]).splitlines()[4:5]
    assert line.endswith(r" & 1.0 \\")
    inner = line.removesuffix(r" & 1.0 \\")
    assert not SPECIAL.search(inner.replace(r"$\pm$", ""))
    assert inner.count("{") - inner.count(r"\{") == inner.count("}") - inner.count(r"\}")


def test_every_sign_that_means_something_is_set_as_itself() -> None:
    assert escaped(r"a\b{c}~^_$#%&") == r"a\textbackslash{}b\{c\}\textasciitilde{}\textasciicircum{}\_\$\#\%\&"
    assert escaped("`phe`,\n± 2") == r"phe, $\pm$ 2"
