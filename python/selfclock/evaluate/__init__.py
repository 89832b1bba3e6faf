"""The scorecard of an algorithm, after RFC 9743, RFC 5166, RFC 7928 and the TCP evaluation suite."""

from selfclock.evaluate.scorecard import BASELINES, Scorecard, ScorecardDocument, evaluate, evaluate_all

__all__ = ["BASELINES", "Scorecard", "ScorecardDocument", "evaluate", "evaluate_all"]
