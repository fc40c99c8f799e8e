"""What `mkdocs build --strict` needs beyond the pages: `hooks.py` is named in mkdocs.yml and calls the rest.

The pages in docs/ read well where a repository is browsed. Here they become a site that asks nothing of any other
address: equations become MathML, notebooks become pages, and files outside docs/ that pages link to come along.
"""
