"""Closed forms of the papers, drawn beside simulated numbers.

Symbols: R rate of the long link, D its one-way delay, B buffer of the ingress that it leads to, alpha the
share of the rate at which that ingress drains. Shares of the rate are in percent, as `utilisation` is.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from floodway import _floodway

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["FORMULAS", "arguments_of", "bdp_bytes"]


def bdp_bytes(delay_us: float, rate_gbps: float) -> float:
    """Return the bandwidth-delay product of a round trip, 2 D R, in bytes.

    Examples
    --------
    >>> bdp_bytes(400.0, 400.0)
    40000000.0
    """
    return 2 * delay_us * rate_gbps * 125


def pfc_utilisation(delay_us: float, alpha: float, buffer_bytes: float, rate_gbps: float) -> float:
    """Return the utilisation of a long link with PFC (Chen et al. 2023, Eq. 4), 0 where it loses packets.

    Examples
    --------
    >>> pfc_utilisation(200.0, 0.5, 11e6, 100.0), pfc_utilisation(450.0, 0.5, 11e6, 100.0)
    (50.0, 0.0)
    >>> round(pfc_utilisation(400.0, 0.5, 11e6, 100.0), 2)
    37.5
    """
    bdp = bdp_bytes(delay_us, rate_gbps)
    if bdp > buffer_bytes:
        return 0.0
    return 100 * _floodway.pfc_utilisation(alpha, xoff_bytes=buffer_bytes - bdp, round_trip_bytes=bdp)


def relay_utilisation(delay_us: float, alpha: float, buffer_bytes: float, rate_gbps: float) -> float:
    """Return the utilisation of a long link with SWING's relay (Chen et al. 2023, Eq. 6), 0 where it loses.

    Examples
    --------
    >>> relay_utilisation(440.0, 0.5, 11e6, 100.0), relay_utilisation(441.0, 0.5, 11e6, 100.0)
    (50.0, 0.0)
    """
    return 100 * min(alpha, 1.0) if buffer_bytes >= bdp_bytes(delay_us, rate_gbps) else 0.0


def relay_buffer(delay_us: float, rate_gbps: float) -> float:
    """Return the ingress buffer that a relay needs, in bytes (Chen et al. 2023, section 4.2): 2 D R."""
    return bdp_bytes(delay_us, rate_gbps)


def pfc_buffer(delay_us: float, rate_gbps: float) -> float:
    """Return the buffer with which PFC loses neither packets nor throughput, in bytes: 4 D R (ibid.)."""
    return 2 * bdp_bytes(delay_us, rate_gbps)


def cbfc_lowest(
    delay_us: float, buffer_bytes: float, rate_gbps: float, period_us: float, mtu_bytes: float
) -> float:
    """Return the least utilisation by a backlogged sender with credits: B / (R (2 D + P) + MTU), at most 100.

    Examples
    --------
    >>> round(cbfc_lowest(400.0, 5e6, 100.0, 10.0, 1500.0), 2)
    49.38
    >>> cbfc_lowest(0.0, 5e6, 100.0, 0.0, 0.0)
    100.0
    """
    needed = bdp_bytes(delay_us, rate_gbps) + period_us * rate_gbps * 125 + mtu_bytes
    return _share(buffer_bytes, needed)


def cbfc_highest(delay_us: float, buffer_bytes: float, rate_gbps: float) -> float:
    """Return the highest utilisation by a backlogged sender with credits: B / (2 D R), at most 100.

    Examples
    --------
    >>> cbfc_highest(400.0, 5e6, 100.0)
    50.0
    >>> cbfc_highest(0.0, 5e6, 100.0)
    100.0
    """
    return _share(buffer_bytes, bdp_bytes(delay_us, rate_gbps))


def bifrost_buffer(delay_us: float, rate_gbps: float, slot_us: float) -> float:
    """Return the level that Bifrost needs, in bytes (Yu et al. 2023, Theorem 1): 2 D R + 2 R T."""
    return bdp_bytes(delay_us, rate_gbps) + 2 * slot_us * rate_gbps * 125


def _share(buffer_bytes: float, needed: float) -> float:
    """Return a buffer in percent of the needed one: 100 where none is needed."""
    return 100 * min(1.0, buffer_bytes / needed) if needed > 0 else 100.0


#: Formulas by their names in studies.
FORMULAS: Mapping[str, Callable[..., float]] = {
    "swing-eq4": pfc_utilisation,
    "swing-eq6": relay_utilisation,
    "swing-relay-buffer": relay_buffer,
    "swing-pfc-buffer": pfc_buffer,
    "cbfc-lowest": cbfc_lowest,
    "cbfc-highest": cbfc_highest,
    "bifrost-buffer": bifrost_buffer,
    "bdp": bdp_bytes,
}


def arguments_of(name: str) -> tuple[str, ...]:
    """Return the arguments of a formula as studies write them: `delay-us`.

    Examples
    --------
    >>> arguments_of("bdp")
    ('delay-us', 'rate-gbps')
    """
    return tuple(parameter.replace("_", "-") for parameter in inspect.signature(FORMULAS[name]).parameters)
