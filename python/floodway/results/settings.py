"""Settings of the directions of links, from the recorded scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.results.quantities import quantity_gbps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["direction_settings", "rates_gbps", "settings_of"]


def direction_settings(scenario: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Collect what each direction of a link ended up with, by the direction's name.

    Parameters
    ----------
    scenario
        The scenario after defaults, as `run.json` keeps it.
    """
    groups = [group for group in scenario.get("resolved", ()) if group["kind"] == "direction"]
    return {
        name: {setting["key"]: setting["value"] for setting in group["settings"]}
        for group in groups
        for name in group["objects"]
    }


def settings_of(settings: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    """Look up an object of the series, `link: from>to`.

    Where parallel links share a direction, its name in the settings begins with the link's.
    """
    link, _, direction = name.partition(": ")
    return settings.get(f"{link} {direction}") or settings.get(direction) or {}


def rates_gbps(scenario: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Return the rate of each object of the series whose rate is known, in Gbit/s."""
    settings = direction_settings(scenario)
    rates = {name: settings_of(settings, name).get("rate") for name in names}
    return {name: quantity_gbps(rate) for name, rate in rates.items() if rate is not None}
