"""The plots of a report, each drawn from one table and from nothing else."""
