"""The parts of a table on a Spark cluster: sessions, and what runs on executors. The methods know no Spark."""
