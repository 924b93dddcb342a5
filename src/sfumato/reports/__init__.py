"""Draw reports: figures from tables, and one self-contained HTML page. It knows the release format and no product."""
