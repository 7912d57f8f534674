"""Command lines of the Ultra Ethernet Consortium's simulator: their options."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.names import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Options", "options_of"]

#: Options that are taken, with the number of their values.
TAKEN = {
    "-tm": 1,
    "-topo": 1,
    "-tiers": 1,
    "-nodes": 1,
    "-planes": 1,
    "-failed": 1,
    "-linkspeed": 1,
    "-hop_latency": 1,
    "-switch_latency": 1,
    "-mtu": 1,
    "-trimsize": 1,
    "-disable_trim": 0,
    "-q": 1,
    "-queue_size_bdp_factor": 1,
    "-queue_type": 1,
    "-ecn": 2,
    "-strat": 1,
    "-load_balancing_algo": 1,
    "-paths": 1,
    "-sender_cc": 0,
    "-sender_cc_only": 0,
    "-sender_cc_algo": 1,
    "-receiver_cc": 0,
    "-receiver_cc_only": 0,
    "-force_disable_oversubscribed_cc": 0,
    "-cwnd": 1,
    "-target_q_delay": 1,
    "-qa_gate": 1,
    "-enable_accurate_base_rtt": 0,
    "-disable_base_rtt_update_on_nack": 0,
    "-sack_threshold": 1,
    "-sleek": 0,
    "-end": 1,
    "-seed": 1,
    # What the simulator prints and writes does not change what it computes; one packet at a time leaves a
    # NIC, whatever the kind of queue behind it.
    "-o": 1,
    "-log": 1,
    "-logtime": 1,
    "-logtime_us": 1,
    "-debug": 0,
    "-host_queue_type": 1,
}
#: Options that are not modelled, with the number of their values.
NOT_MODELLED = {
    "-conn_reuse": 0,
    "-oversubscribed_cc": 0,
    "-Ai": 1,
    "-Md": 1,
    "-alpha": 1,
    "-pcie": 1,
    "-ar_sticky_delta": 1,
    "-ar_granularity": 1,
    "-ar_method": 1,
}
#: The only values of options that are modelled.
MODELLED = {
    "-planes": ("1",),
    "-queue_type": ("composite",),
    "-strat": ("ecmp_host",),
    "-sender_cc_algo": ("nscc",),
    "-host_queue_type": ("fair_prio", "prio"),
    "-load_balancing_algo": ("bitmap", "reps", "reps_legacy", "oblivious", "mixed"),
}
#: Options in microseconds, which may have decimals.
DECIMAL = ("-hop_latency", "-switch_latency", "-target_q_delay")
#: Text in cases of the simulator whose coin always cuts the arriving packet.
COIN = "UEC_COIN"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a command line, with the simulator's defaults.

    Attributes
    ----------
    matrix
        The file of the flows.
    sender, receiver
        Whether NSCC, and RCCC, is on.
    balancing, paths
        The algorithm that chooses entropy values, and the number of values.
    rate_mbps
        Rate of a host, and of each link that no topology gives another, in Mbit/s.
    hop_ps, switch_ps
        Delay of each link, and of each switch, in picoseconds.
    mtu, trimmed
        Bytes of a full packet, and of one without its payload.
    queue, queue_products, ecn
        Size of a queue of data in packets, or in bandwidth-delay products of the network; thresholds of marks
        in packets. By default they follow from the network.
    end_us
        End of the run, in microseconds.
    trims
        Whether full queues cut packets rather than drop them.
    topology, tiers, nodes
        A file of the network, or its tiers of switches; the number of hosts, if given.
    arriving
        Whether a full queue always cuts the packet that arrives.
    cuts_lower_base_rtt
        Whether a cut packet's round trip may be the base round trip.
    of_pair
        Whether a connection begins with the base round trip of its own hosts.
    first_window
        First window in packets; by default 1.5 bandwidth-delay products.
    target_ps, gate
        NSCC's target in picoseconds, and the gate of quick adapt; by default as specified.
    ack_every
        Bytes of which one report is sent at the latest.
    failed
        Number of links with a quarter of their rate, queue and thresholds.
    sleek
        Whether losses are found by the packets behind them, and by probes.
    plain_credit
        Whether receivers of an oversubscribed network grant credit as those of others.
    unsupported
        What floodway does not model, each with the reason or with what is taken.
    """

    matrix: str = "connections.cm"
    sender: bool = True
    receiver: bool = False
    balancing: str = "mixed"
    paths: int = 64
    rate_mbps: int = 100_000
    hop_ps: int = 1_000_000
    switch_ps: int = 0
    mtu: int = 4150
    trimmed: int = 64
    queue: int | None = None
    queue_products: int | None = None
    ecn: tuple[int, int] | None = None
    end_us: int = 1000
    seed: int = 13
    trims: bool = True
    topology: str | None = None
    tiers: int = 3
    nodes: int | None = None
    arriving: bool = False
    cuts_lower_base_rtt: bool = True
    of_pair: bool = False
    first_window: int | None = None
    target_ps: int | None = None
    gate: int | None = None
    ack_every: int = 16_384
    sleek: bool = False
    failed: int = 0
    plain_credit: bool = False
    unsupported: tuple[str, ...] = ()


def options_of(file: Path, text: str) -> Options:
    """Read the options of a command line, the first line of a text.

    Parameters
    ----------
    file
        The file, for errors.
    text
        What it contains.

    Raises
    ------
    ValidationError
        If an option is not one of the simulator's, has no value, or has one that is not of its kind.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    try:
        words = shlex.split(lines[0])[1:] if lines else []
    except ValueError as error:
        raise ValidationError(f"{file}:1: {error}", place=f"{file}:1") from error
    values = _values(file, words)
    return _Read(file, values).options(arriving=COIN in text)


def _values(file: Path, words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of options by their names, in their order."""
    options = {**TAKEN, **NOT_MODELLED}
    by_option: dict[str, list[str]] = {}
    at = 0
    while at < len(words):
        option = words[at]
        if option not in options:
            near = nearest(option, tuple(options))
            hint = f"; did you mean {near}?" if near else ""
            message = f"{file}:1: {option!r} is not an option that floodway knows: {', '.join(options)}{hint}"
            raise ValidationError(
                message, place=f"{file}:1", given=option, allowed=tuple(options), nearest=near
            )
        count = options[option]
        values = list(words[at + 1 : at + 1 + count])
        if len(values) < count:
            raise ValidationError(f"{file}:1: {option} has no value", place=f"{file}:1", key=option)
        # The last one of an option counts, and its place among the others.
        by_option.pop(option, None)
        by_option[option] = values
        at += 1 + count
    return by_option


@dataclass(frozen=True)
class _Read:
    """A command line as it is read."""

    file: Path
    values: dict[str, list[str]]

    def options(self, *, arriving: bool) -> Options:
        sender, receiver = self._controls()
        return Options(
            matrix=self._text("-tm", "connections.cm"),
            sender=sender,
            receiver=receiver,
            balancing=self._text("-load_balancing_algo", "mixed"),
            paths=self._whole("-paths", 64),
            rate_mbps=self._whole("-linkspeed", 100_000),
            hop_ps=self._ps("-hop_latency", 1_000_000),
            switch_ps=self._ps("-switch_latency", 0),
            mtu=self._whole("-mtu", 4150),
            trimmed=self._whole("-trimsize", 64),
            queue=self._whole("-q", 0) or None,
            queue_products=self._whole("-queue_size_bdp_factor", 0) or None,
            ecn=(self._whole("-ecn", 0), self._whole("-ecn", 0, 1)) if "-ecn" in self.values else None,
            end_us=self._whole("-end", 1000),
            seed=self._whole("-seed", 13),
            trims="-disable_trim" not in self.values,
            topology=self.values.get("-topo", [None])[0],
            tiers=self._whole("-tiers", 3),
            nodes=self._whole("-nodes", 0) or None,
            arriving=arriving,
            cuts_lower_base_rtt="-disable_base_rtt_update_on_nack" not in self.values,
            of_pair="-enable_accurate_base_rtt" in self.values,
            first_window=self._whole("-cwnd", 0) or None,
            target_ps=self._ps("-target_q_delay", 0) or None,
            gate=self._whole("-qa_gate", 0) if "-qa_gate" in self.values else None,
            ack_every=self._whole("-sack_threshold", 16_384),
            # It is a part of NSCC's sender there.
            sleek=sender and "-sleek" in self.values,
            failed=self._whole("-failed", 0),
            plain_credit="-force_disable_oversubscribed_cc" in self.values,
            unsupported=tuple(self._unsupported()),
        )

    def _controls(self) -> tuple[bool, bool]:
        """Return whether NSCC and RCCC are on: the options act in their order."""
        sender, receiver = True, False
        for option in self.values:
            if option in ("-sender_cc", "-sender_cc_algo", "-sender_cc_only"):
                sender = True
            if option == "-receiver_cc_only":
                sender = False
            if option in ("-receiver_cc", "-receiver_cc_only"):
                receiver = True
            if option == "-sender_cc_only":
                receiver = False
        return sender, receiver

    def _unsupported(self) -> list[str]:
        """Return what is not modelled: options with all that are taken, or values with those that are."""
        strangers = [option for option in self.values if option in NOT_MODELLED]
        reasons = [f"{', '.join(strangers)} (taken: {', '.join(TAKEN)})"] if strangers else []
        for option, allowed in MODELLED.items():
            value = self.values.get(option, [allowed[0]])[0]
            if value not in allowed:
                reasons.append(f"{option} {value} (taken: {', '.join(allowed)})")
        if "-sleek" in self.values:
            # Probes have the network's round trip and target.
            reasons += [
                f"{option} with -sleek (taken: one of them)"
                for option in ("-enable_accurate_base_rtt", "-target_q_delay")
                if option in self.values
            ]
        return reasons

    def _text(self, option: str, default: str) -> str:
        return self.values.get(option, [default])[0]

    def _whole(self, option: str, default: int, place: int = 0) -> int:
        if option not in self.values:
            return default
        text = self.values[option][place]
        number = self._number(option, text)
        if number != math.floor(number):
            raise self._refused(option, text, "a whole number")
        return int(number)

    def _ps(self, option: str, default_ps: int) -> int:
        """Return microseconds, perhaps with decimals, as picoseconds."""
        if option not in self.values:
            return default_ps
        return int(self._number(option, self.values[option][0]) * 1_000_000)

    def _number(self, option: str, text: str) -> float:
        kind = "a number" if option in DECIMAL else "a whole number"
        try:
            number = float(text)
        except ValueError as error:
            raise self._refused(option, text, kind) from error
        if not 0 <= number < 2**53:
            raise self._refused(option, text, f"{kind} from 0")
        return number

    def _refused(self, option: str, text: str, kind: str) -> ValidationError:
        message = f"{self.file}:1: {option} is {text!r}: expected {kind}"
        return ValidationError(message, place=f"{self.file}:1", key=option, given=text)
