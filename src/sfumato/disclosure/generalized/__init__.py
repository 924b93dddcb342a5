"""Rules that generalize: a level of a hierarchy for each cell, in place of withholding it."""
