"""Deciding: registers of categories, of codes, features or what was learned of them; `kinds.py` is where to add one.

May import `core` alone: no torch, no files. One thread changes a register; any number ask one that is not changed.
"""
