"""Many images, many machines: features in bulk, in parts that can be made again, by whichever engine."""
