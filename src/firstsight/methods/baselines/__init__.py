"""The methods the paper compares with, and the rows that never discover."""
