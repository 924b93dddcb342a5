"""A release with withheld cells: its rows, its document, its checks and its page."""
