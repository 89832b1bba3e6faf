"""Identifiers of the readings in `claims.toml`."""

from __future__ import annotations

ONE, EVERY = "one-pair", "every-pair"
BY_ACK, BY_TIME, BY_LOSS = "until-acknowledged", "two-round-trips", "until-loss"
TENTH, TIES, TEN_MS, START_ALONE = "tenth-of-a-packet", "0.1-ms", "10-ms", "start-alone"
TWO_ROUND_TRIPS, UNTIL_EMPTY = "shaped-for-two-round-trips", "shaped-until-empty"
UNPAIRED, ALL = "d-unpaired", "d-of-all"
PER_ACK, ACKNOWLEDGED = "per-ack", "acknowledged-data"
WITH_TRANSMISSION, PROPAGATION_ALONE = "with-transmission", "propagation-alone"
