"""The parts of a table on a Spark cluster: sessions, executors, and frames. Everything else of the package knows no Spark."""
