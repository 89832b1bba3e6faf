"""Execution of a sweep's runs: on this machine's cores, or on a Dask cluster."""

from __future__ import annotations

import itertools
import pickle
import time
from typing import TYPE_CHECKING, Any

from selfclock._core import ENGINE, VERSION, ScenarioError
from selfclock.custom import load_sources, loaded_sources
from selfclock.errors import WorkError
from selfclock.runs import run_branches
from selfclock.sweep.row import failed, finished
from selfclock.sweep.sharing import with_common_beginnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distributed import Client, Future, as_completed
    from distributed.security import Security

    from selfclock import _core
    from selfclock.algorithm_sources import Source
    from selfclock.result import Result
    from selfclock.scenario import Scenario
    from selfclock.sweep.grid import Grid, Job

LOCAL = "local"
CLUSTER = "dask://"
#: The same with TLS on every connection: certificates and keys are those of Dask's configuration.
SECURE = "tls://"

#: Runs sent to a worker together, so that transport is small next to a short run.
TOGETHER = 32

#: Packages queued for each thread of the cluster.
AHEAD = 3

#: Time after which a run that a worker has announced but not delivered is repeated, s. Dask waits
#: half a minute or longer for a lost worker.
PATIENCE_S = 10

#: Time without its scheduler after which a sweep ends, s: Dask's client tries to reach it again.
WITHOUT_SCHEDULER_S = 60

#: Properties that a worker must share with this process.
BUILD = f"{VERSION}, engine {ENGINE}"

Row = dict[str, Any]


class ClusterError(WorkError):
    """The cluster cannot be used."""


def run_here(grid: Grid, jobs: Iterable[Job], keep: Callable[[Row], object], threads: int | None) -> None:
    """Run jobs on this machine's cores; `keep` is called with each row as its run ends."""

    def runnable() -> Iterator[tuple[Job, Scenario, _core.Trunk | None]]:
        for shared in with_common_beginnings(grid, jobs):
            for job, scenario, trunk in shared.runs(grid):
                if isinstance(scenario, ScenarioError):
                    keep(failed(job, scenario))
                else:
                    yield job, scenario, trunk

    def ended(job: Job, result: Result | Exception) -> None:
        keep(failed(job, result) if isinstance(result, Exception) else finished(job, result.summary))

    run_branches(runnable(), ended, threads)


def run_on_cluster(address: str, grid: Grid, jobs: Iterable[Job], keep: Callable[[Row], object]) -> None:
    """Run jobs on a Dask cluster. Runs of a lost worker are repeated by another."""
    try:
        from distributed import Client, as_completed  # noqa: PLC0415
        from distributed.client import FutureCancelledError  # noqa: PLC0415
    except ImportError:
        raise ClusterError("a sweep on a cluster needs Dask: pip install 'selfclock[cluster]'") from None
    try:
        security = _security(address)
        client = Client(_location(address), timeout="10s", set_as_default=False, security=security)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    with client:
        packages = _batched(jobs, TOGETHER)
        files, pickled = loaded_sources(), pickle.dumps(grid)
        under_way: dict[str, tuple[Job, ...]] = {}

        def submit(package: tuple[Job, ...]) -> Future:
            future = client.submit(_package, files, pickled, package, pure=False)
            under_way[future.key] = package
            return future

        def more() -> list[Future]:
            try:
                there = sum(client.nthreads().values())
            except (OSError, TimeoutError):
                # The scheduler is away; what is under way says for how long.
                return []
            wanted = AHEAD * max(1, there) - len(under_way)
            return [submit(package) for package in itertools.islice(packages, max(0, wanted))]

        ended = as_completed(more(), loop=client.loop)
        while under_way:
            future = _next(ended, client, address)
            package = under_way.pop(future.key)
            try:
                # A result announced and then lost with its worker is awaited again.
                build, rows = future.result(PATIENCE_S)
            except (FutureCancelledError, TimeoutError):
                _need_scheduler(client, address)
                future.release()
                ended.add(submit(package))
                continue
            except Exception as error:
                # The error that stopped the package is recorded for each of its runs.
                rows, build = [failed(job, error) for job in package], BUILD
            if build != BUILD:
                raise ClusterError(f"a worker has selfclock {build}, and this is {BUILD}: install the same")
            for row in rows:
                keep(row)
            ended.update(more())


def _location(address: str) -> str:
    """Return the scheduler's address as Dask writes it."""
    return address if address.startswith(SECURE) else f"tcp://{address.removeprefix(CLUSTER)}"


def _security(address: str) -> Security | None:
    """Return certificates and keys of Dask's configuration, such as DASK_DISTRIBUTED__COMM__TLS__CA_FILE."""
    if not address.startswith(SECURE):
        return None
    from distributed.security import Security  # noqa: PLC0415

    return Security(require_encryption=True)


def _next(ended: as_completed, client: Client, address: str) -> Future:
    """Return the next finished package, as long as the scheduler can be reached."""
    lost_at: float | None = None
    while not ended.has_ready():
        lost_at = _lost_since(client, lost_at, address)
        with ended.thread_condition:
            ended.thread_condition.wait(timeout=0.1)
    future: Future = next(ended)
    return future


def _lost_since(client: Client, lost_at: float | None, address: str) -> float | None:
    if client.status in {"closed", "closing"}:
        raise _lost(address)
    if client.status == "running":
        return None
    lost_at = time.monotonic() if lost_at is None else lost_at
    if time.monotonic() > lost_at + WITHOUT_SCHEDULER_S:
        raise _lost(address)
    return lost_at


def _need_scheduler(client: Client, address: str) -> None:
    """Raise if Dask has given the scheduler up: it cancels all packages then."""
    if client.status in {"closed", "closing"}:
        raise _lost(address)


def _lost(address: str) -> ClusterError:
    return ClusterError(
        f"the Dask scheduler at {address} no longer answers; the finished runs are kept, and the same command resumes"
    )


def _batched(jobs: Iterable[Job], size: int) -> Iterator[tuple[Job, ...]]:
    jobs = iter(jobs)
    while package := tuple(itertools.islice(jobs, size)):
        yield package


def _package(files: dict[str, Source], pickled: bytes, jobs: tuple[Job, ...]) -> tuple[str, list[Row]]:
    """Run jobs on one thread of a worker. The grid can be read once its algorithms are known."""
    load_sources(files)
    grid: Grid = pickle.loads(pickled)  # noqa: S301  of our own making
    rows: list[Row] = []
    run_here(grid, jobs, rows.append, threads=1)
    return BUILD, rows
