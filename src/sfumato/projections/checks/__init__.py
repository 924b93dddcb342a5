"""Verification of a projected release from its files. These modules import nothing that makes a projection."""
