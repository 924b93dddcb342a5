"""What an audit found: findings, worst groups, text and JSON; of a table here, or of one whose rows are on a cluster."""
