"""Trained methods: each an encoder with the register its categories start from, saved as a folder."""
