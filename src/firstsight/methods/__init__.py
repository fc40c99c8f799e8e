"""Every method by name: the part of an encoder that learns, if any does, and a decision fitted on features."""
