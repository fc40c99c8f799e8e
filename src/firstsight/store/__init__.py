"""Keeping: a log of events, the catalogue it comes to, edits, and the store that lets one write and many look.

May import `register`, the loop that encodes, `data` and `core`; knows nothing of torch.
`store.py` writes, `view.py` looks, `log.py` says what a log is.
"""
