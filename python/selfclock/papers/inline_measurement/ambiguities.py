"""Identifiers of the readings in `claims.toml`."""

from __future__ import annotations

AS_PRINTED, EXACT, CORRECTED = "icim-printed", "icim-printed-exact", "icim-corrected"
PACKETS, BYTES, ONE_WAY = "buffer-packets", "buffer-bytes", "buffer-one-way"
NO_THRESHOLD, HALF = "no-threshold", "half-threshold"
BURSTS, PAIRS = "k-from-bursts", "k-from-pairs"
MIX, LARGE = "udp-mix", "udp-1500"
