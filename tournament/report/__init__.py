"""Results for people and scripts: tables, json, csv, markdown, exported folders.

It reads through the store's queries and changes nothing.
"""
