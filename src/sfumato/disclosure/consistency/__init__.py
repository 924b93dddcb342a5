"""When a value of a record is consistent with a value of a dictionary: equality, containment, similarity."""
