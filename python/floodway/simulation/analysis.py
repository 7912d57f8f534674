"""Results with methods that draw them and that explain completion times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.results import result, store

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from floodway._floodway import Progress
    from floodway.scenarios.scenario import Scenario
    from floodway.simulation.critical_path import CriticalPath
    from floodway.simulation.report import Page
    from floodway.simulation.why import Why

__all__ = ["Result", "read"]


class Result(result.Result):
    """Tables and verdicts of a run, with methods that draw them and that explain completion times.

    The attributes are those of `floodway.results.Result`.

    Examples
    --------
    >>> import floodway
    >>> scenario = floodway.Scenario.from_toml(
    ...     '''
    ... limit = "1ms"
    ... topology.dumbbell = { left = 1, right = 1, rate = "100G", delay = "1us" }
    ... [[workload]]
    ... name = "one"
    ... flows = [{ from = "h1", to = "h2", size = "100KB", start = "0us" }]
    ... ''',
    ... )
    >>> result = floodway.run(scenario)
    >>> result.flows["finished"].to_list()
    [True]
    >>> result.summary().total.slowdown_p50
    1.0
    """

    def why(
        self,
        flow: str = "p99",
        *,
        scenario: Scenario | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Why:
        """Break down the completion time of one flow by cause and port.

        The scenario runs again until the flow is complete, on one thread.

        Parameters
        ----------
        flow
            Its `flow_id`; `worst`, the measured flow with the largest slowdown; or a percentile such as
            `p99`, the measured flow whose slowdown has that rank.
        scenario
            The scenario of the run; by default it is read again from the record of the run.
        on_progress
            Called about ten times a second in the calling thread.

        Returns
        -------
        Why
            Parts that add up to the completion time exactly.

        Raises
        ------
        UnknownNameError
            If there is no such flow.
        InputError
            If it is not complete.
        RunError
            If the run differs when it is repeated: other versions, other files.
        ScenarioError
            If the scenario cannot be read again.
        KeyboardInterrupt
            If Ctrl-C ended it.
        """
        from floodway.simulation.why import take_apart  # noqa: PLC0415 (where it is asked for)

        return take_apart(self, flow, scenario=scenario, on_progress=on_progress)

    def report(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        flows: Sequence[str] | None = None,
        title: str | None = None,
    ) -> Page:
        """Make a self-contained page that shows the run over time: network, ports, flows, causes.

        It shows what the run recorded; `floodway.simulation.report.with_report_records(scenario)` turns on
        all of it.

        Parameters
        ----------
        file
            The file to write; an existing file is replaced. By default none is written.
        flows
            Flows whose completion times are divided into their causes, as `why` takes them; by default the
            one at p99 of slowdowns, and the slowest of each workload. The run is repeated once for all.
        title
            The heading of the page; by default the scenario's name.

        Returns
        -------
        Page
            The page, which a notebook shows; `text` is its HTML.

        Raises
        ------
        UnknownNameError
            If there is no such flow.
        RunError
            If the run differs when it is repeated.
        OutputError
            If the file cannot be written.
        """
        from floodway.simulation.report import Page, report  # noqa: PLC0415 (where it is asked for)

        page = Page(text=report({self.run.name: self}, flows=flows, title=title))
        if file is not None:
            page.save(file)
        return page

    def critical_path(
        self,
        collective: str,
        *,
        scenario: Scenario | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> CriticalPath:
        """Find the critical path of a collective or an iteration of a job, rank by rank.

        The scenario runs again twice until the collective is complete, on one thread.

        Parameters
        ----------
        collective
            `WORKLOAD:NUMBER`, by its number in the table of the workload's collectives, from 0;
            `WORKLOAD:iteration-NUMBER`; or a `WORKLOAD`, or `WORKLOAD NAME` such as
            `gradients all-reduce 1MB`: the collective that took longest of these.
        scenario
            The scenario of the run; by default it is read again from the record of the run.
        on_progress
            Called about ten times a second in the calling thread.

        Returns
        -------
        CriticalPath
            Steps that add up to the time from the first rank's start to the last one's end exactly.

        Raises
        ------
        UnknownNameError
            If there is no such collective or iteration.
        InputError
            If it is not complete, or its path takes more memory than is allowed.
        RunError
            If the run differs when it is repeated: other versions, other files.
        ScenarioError
            If the scenario cannot be read again.
        KeyboardInterrupt
            If Ctrl-C ended it.
        """
        from floodway.simulation.critical_path import find_path  # noqa: PLC0415 (where it is asked for)

        return find_path(self, collective, scenario=scenario, on_progress=on_progress)

    def plot_fct(self, *, workloads: Sequence[str] = ()) -> Figure:
        """Draw the share of measured flows that completed within a time, a curve a workload.

        A curve with unfinished flows ends below one.

        Parameters
        ----------
        workloads
            Names of the workloads to draw; all by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            If no measured flow finished, or there is no such workload.
        """
        return self._drawn("fct", workloads=workloads)

    def plot_slowdown(self, *, workloads: Sequence[str] = ()) -> Figure:
        """Draw median and 99th percentile of slowdown against flow size, over buckets of equal size.

        A line has a gap where unfinished flows hold the percentile's rank.

        Parameters
        ----------
        workloads
            Names of the workloads to draw; all by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            If no percentile is reached, or there is no such workload.
        """
        return self._drawn("slowdown", workloads=workloads)

    def plot_series(self, *, objects: Sequence[str] | str = (), metric: str = "throughput") -> Figure:
        """Draw a metric of watched objects in time, a panel an object.

        Parameters
        ----------
        objects
            Patterns of names, in which `*` and `?` are wildcards: `x1-x2: x1>x2`, its direction
            `x1>x2`, or its link `x1-x2`. The four busiest links by default.
        metric
            `throughput` (Gbit/s), `utilisation` (percent of the rate), `paused` (percent of the time),
            `queue` (mean, bytes), `queue-max`, `buffer` (the most of each part, bytes), or a metric of
            the table `series` by its own name.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            If nothing was watched, or there is no such metric or object.
        """
        return self._drawn("series", objects=_several(objects), metric=metric)

    def plot_heatmap(self, *, objects: Sequence[str] | str = (), metric: str = "utilisation") -> Figure:
        """Draw watched objects against time with a metric as the colour: how congestion spreads.

        Parameters
        ----------
        objects
            As in `plot_series`; everything that was watched by default.
        metric
            As in `plot_series`.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            As in `plot_series`.
        """
        return self._drawn("heatmap", objects=_several(objects), metric=metric)

    def plot_ports(
        self,
        *,
        objects: Sequence[str] | str = (),
        flows: Sequence[str] | str = (),
        from_us: float | None = None,
        to_us: float | None = None,
    ) -> Figure:
        """Draw ports in time: queues, pauses, marks, CNPs and states, and below what senders might send.

        The run has to have recorded what is drawn: `records.watch`, `records.pauses`, `records.signals`,
        `records.allowances`.

        Parameters
        ----------
        objects
            As in `plot_series`, panels in this order; the four ports with most events by default.
        flows
            Patterns of `flow_id` or of workloads; the first six flows by default.
        from_us, to_us
            Begin and end of the time axis, in microseconds; the whole run by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            If nothing was recorded at these ports, or there is no such port or flow.
        """
        window, shown = (from_us, to_us), {"objects": _several(objects), "flows": _several(flows)}
        return self._drawn("ports", window=window, **shown)

    def plot_region(
        self, *, class_: int | None = None, from_us: float | None = None, to_us: float | None = None
    ) -> Figure:
        """Draw the congestion region in time: a strip for each port, coloured by its role.

        From the top down: each root, then the ports upstream of it, by hops. The run has to have recorded
        `records.signals`.

        Parameters
        ----------
        class_
            The class of the queues; by default all, and a port has its most severe role in any.
        from_us, to_us
            Begin and end of the time axis, in microseconds; the whole run by default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            If no signals were recorded, there is no such class, or no port was in a region.
        """
        return self._drawn("region", class_=class_, window=(from_us, to_us))

    def plot_shares(
        self,
        *,
        objects: Sequence[str] | str = (),
        flows: Sequence[str] | str = (),
        from_us: float | None = None,
        to_us: float | None = None,
        bucket_us: float | None = None,
    ) -> Figure:
        """Draw the throughput of flows over links in time: flows' shares of a link.

        The run has to have recorded `records.shares`. The eight flows with most bytes have a line each, all
        others one line together.

        Parameters
        ----------
        objects
            As in `plot_series`, directions whose shares were recorded; the one that carried most by default.
        flows
            Patterns of `flow_id` or of workloads: only these are shown; all flows by default.
        from_us, to_us
            Begin and end of the time axis, in microseconds; the whole run by default.
        bucket_us
            Width of a bucket, in microseconds: recorded buckets are merged until they are at least this wide;
            by default until at most 250 are left.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, which a notebook shows; `figure.savefig(file)` writes it.

        Raises
        ------
        PlotError
            If no shares were recorded, there is no such direction or flow, or there is nothing to show.
        """
        window, shown = (from_us, to_us), {"objects": _several(objects), "flows": _several(flows)}
        return self._drawn("shares", window=window, bucket_us=bucket_us, **shown)

    def _drawn(self, picture: str, **choices: Any) -> Figure:  # noqa: ANN401 (those of the picture's function)
        from floodway import plot  # noqa: PLC0415 (drawing takes as long to load as all the rest)

        sources = (plot.Source(label=self.run.name, results=(self,)),)
        drawing: plot.Drawing = getattr(plot, picture)(sources, **choices)
        return drawing.figure


def read(folder: str | os.PathLike[str], *, key: str | None = None) -> Result:
    """Read the results of a run from its folder, and check that they are unchanged.

    Results of earlier versions have no digests; they are read with an `UnverifiedWarning`.

    Parameters
    ----------
    folder
        The folder of the results.
    key
        The key of the run that the folder has to hold, a hash of everything that decides its result; by
        default any run is read.

    Returns
    -------
    Result
        The tables and verdicts of the run.

    Raises
    ------
    OutputError
        If the folder has no results of floodway, or they have changed since.

    Examples
    --------
    >>> import tempfile
    >>> import floodway
    >>> from floodway.builders import Burst, SingleSwitch, Workload
    >>> scenario = floodway.Scenario(
    ...     topology=SingleSwitch(hosts=2, rate="100G", delay="1us"),
    ...     workload=[Workload(name="pair", burst=Burst(from_="h1", to="h2", size="100KB"))],
    ... )
    >>> result = floodway.run(scenario)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(folder, force=True)
    ...     same = floodway.read(folder)
    >>> same.flows.equals(result.flows)
    True
    """
    return store.read_as(Result, folder, key=key)


def _several(names: Sequence[str] | str) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names
