"""Deciding: the register of categories, and the discoverer that joins it to an encoder."""
