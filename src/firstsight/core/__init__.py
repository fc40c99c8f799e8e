"""What the rest agrees on: protocols, errors, codes, bounds, accuracy, files. NumPy at most."""
