"""A fitted model: its folder, its card and the support images that stand for it."""
