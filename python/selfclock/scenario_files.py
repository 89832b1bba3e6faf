"""The runs of a paper as scenario files, which `selfclock run` takes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from selfclock.errors import WorkError
from selfclock.save import file_stem, staged
from selfclock.scenario import Scenario
from selfclock.scenario.toml import to_toml_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from selfclock.paper_runs import Study

#: Text of every scenario file, by scenario name and file stem.
ScenarioFiles = dict[str, dict[str, str]]


class AmbiguousNameError(WorkError):
    """One name stands for several scenarios: an error in the paper's package."""


def scenario_files(study: Study) -> ScenarioFiles:
    """Return every run of a study as a scenario file that has the same results.

    A name identifies one set of settings. With several seeds its files are NAME-seed-1, NAME-seed-2
    and so on; otherwise its file is NAME.
    """
    named: dict[str, dict[int, Scenario]] = defaultdict(dict)
    for scenario in _scenarios(study):
        seeds = named[scenario.name]
        other = seeds.setdefault(scenario.seed, scenario)
        if other.settings != scenario.settings:
            raise AmbiguousNameError(f"two scenarios named {scenario.name!r} have seed {scenario.seed} and differ")
    stems: dict[str, str] = {}
    for name, seeds in named.items():
        if len({scenario.with_seed(0).settings for scenario in seeds.values()}) > 1:
            raise AmbiguousNameError(f"scenarios named {name!r} differ in more than the seed")
        for stem in _stems(name, seeds):
            # Some file systems are not case-sensitive.
            if (other_name := stems.setdefault(stem.lower(), name)) != name:
                raise AmbiguousNameError(f"scenarios {other_name!r} and {name!r} would have the same file, {stem}.toml")
    return {
        name: {stem: _text(scenario, stem) for stem, scenario in zip(_stems(name, seeds), seeds.values(), strict=True)}
        for name, seeds in named.items()
    }


def write_scenarios(files: ScenarioFiles, directory: Path) -> list[str]:
    """Write scenario files into a directory; return their names."""
    texts = {f"{stem}.toml": text for own in files.values() for stem, text in own.items()}
    with staged(directory) as aside:
        for name, text in texts.items():
            (aside / name).write_text(text, encoding="utf-8")
    return list(texts)


def _scenarios(study: Study) -> Iterator[Scenario]:
    return (scenario for part in study.parts for scenario in part.scenarios)


def _stems(name: str, seeds: Mapping[int, Scenario]) -> list[str]:
    """Return the file name for each seed."""
    stem = file_stem(name)
    return [stem] if len(seeds) == 1 else [f"{stem}-seed-{seed}" for seed in seeds]


def _text(scenario: Scenario, name: str) -> str:
    """Return the text of a file, including settings made outside it, such as seed and recording."""
    overrides = [f"name={to_toml_value(name)}", f"seed={scenario.seed}"]
    if scenario.settings == scenario.unrecorded().settings:
        overrides += ["record.interval=off", "record.packets=false"]
    text = scenario.with_overrides(overrides).text
    if Scenario.parse(text, f"{name}.toml").settings != scenario.settings:
        raise AssertionError(f"the text of scenario {scenario.name!r} does not say all of its settings")
    return text
