"""How well the tests guard the code."""
