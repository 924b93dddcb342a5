"""Verification of anatomized releases; imports nothing of what makes one."""
