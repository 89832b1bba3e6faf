"""Papers, one package each."""
