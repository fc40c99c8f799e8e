"""Several services, one register: which of them writes, and what the others send to it. Knows no pages."""
