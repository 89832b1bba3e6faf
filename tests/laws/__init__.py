"""Laws that runs must obey, over scenarios that nobody chose: `make laws`.

A law compares a run with another run (symmetries), with what any packet network must do (physics),
with a formula, a table or a distribution (statistics), with another description of the same figure
(figures). None asks the engine what it should have done.
"""
