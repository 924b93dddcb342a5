"""Which individuals of a dictionary are consistent with which records, one by one and jointly."""
