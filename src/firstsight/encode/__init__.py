"""From pixels to features: backbones, their weights, the second look, devices, the one loop that encodes."""
