"""The paper, nothing else: Prototypical Hash Encoding (NeurIPS 2024), each equation found by its number."""
