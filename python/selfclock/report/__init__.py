"""Pages, charts, drawings and files of results."""
