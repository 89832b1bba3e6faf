"""Pages, charts, drawings and files of results: what lies above the results themselves."""
