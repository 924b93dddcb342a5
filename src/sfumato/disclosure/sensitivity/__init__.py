"""How sensitive the disclosed part of a record is: Φ, as arrays and as exact numbers."""
