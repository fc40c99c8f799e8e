"""Keeping: an append-only log of events, and what it says about categories and images."""
