"""What a register holds, for other programs and other people: tables, Darwin Core, Camtrap DP, a folder per category.

Reads views of a store, and the image files they name. Only the command line imports it.
"""
