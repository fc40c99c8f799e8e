"""Rules published after the paper."""
