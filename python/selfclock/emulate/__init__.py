"""Real programs on the links of a scenario: hosts as namespaces around the emulator. Linux only."""
