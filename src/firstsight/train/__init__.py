"""Training: from a folder of labelled images to a model folder."""
