"""Disclosure risk: what an attacker with a dictionary gains from what is disclosed, and what to hold back (paper 002)."""
