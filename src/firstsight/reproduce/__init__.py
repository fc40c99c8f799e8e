"""Runs over methods, seeds and orders, and the paper's tables and figures beside ours."""
