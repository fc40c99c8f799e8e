"""Deciding: registers of categories. Torch-free, file-free, one thread at a time."""
