"""Published experiments, repeated: `*_tables` measure and write CSV files, `*_plots` draw from those files only."""
