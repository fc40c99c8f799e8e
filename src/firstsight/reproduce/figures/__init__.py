"""Results as figures: what is on them (charts) without matplotlib, and how they are drawn (drawing, style) with it."""
