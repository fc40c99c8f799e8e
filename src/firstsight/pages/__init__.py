"""What people look at: explanations, galleries and reports, each one file that fetches nothing.

A module makes plain values of data, a template makes the page of them. Imports evidence; nothing but commands and the
service imports it.
"""
