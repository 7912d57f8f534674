"""Numbers as people read them: three digits, in the largest unit that leaves one or more."""

from __future__ import annotations

__all__ = ["four_digits", "reading", "share_text", "size_text", "three_digits", "time_text"]

#: By the end of a name: by what its number is multiplied, and the units with what each is.
_UNITS: dict[str, tuple[float, tuple[tuple[float, str], ...]]] = {
    "_us": (1.0, ((1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns"))),
    "_gbps": (1.0, ((1e3, "Tbit/s"), (1.0, "Gbit/s"), (1e-3, "Mbit/s"))),
    "_bytes": (1.0, ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))),
    "_kilobytes": (1e3, ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))),
    "_megabytes": (1e6, ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "B"))),
    "_percent": (1.0, ((1.0, "%"),)),
}
#: From here on all digits before the point are written.
_WHOLE = 1000


def three_digits(value: float) -> str:
    """Write three digits, or all before the point; whole numbers as such.

    Examples
    --------
    >>> three_digits(0.12345), three_digits(12.0), three_digits(9.996), three_digits(123456.7)
    ('0.123', '12', '10', '123,457')
    """
    if value == round(value) or abs(value) >= _WHOLE / 2:
        return f"{value:,.0f}"
    text = f"{float(f'{value:.3g}'):.6f}" if abs(value) < 1 else f"{float(f'{value:.3g}'):.2f}"
    return text.rstrip("0").rstrip(".")


def four_digits(value: float) -> str:
    """Write four digits, or all before the point.

    Examples
    --------
    >>> four_digits(590.71), four_digits(16_280.4), four_digits(0.0123456), four_digits(786.0)
    ('590.7', '16,280', '0.01235', '786')
    """
    return f"{value:,.0f}" if abs(value) >= _WHOLE else f"{value:.4g}"


def reading(key: str, value: float) -> str:
    """Write a number with its unit, which the end of its name says.

    Examples
    --------
    >>> reading("fct_mean_us", 3402.6), reading("link_loaded_gbps", 284.4), reading("flows", 12982)
    ('3.4 ms', '284 Gbit/s', '12,982')
    """
    factor, units = next((scale for ending, scale in _UNITS.items() if key.endswith(ending)), (1.0, ()))
    if not units:
        return three_digits(value)
    scaled = value * factor
    # What rounds to a thousand of one unit is one of the next.
    per, unit = next((pair for pair in units if abs(float(f"{scaled:.3g}")) >= pair[0]), units[-1])
    if not scaled:
        per, unit = next(pair for pair in units if pair[0] <= factor)
    return f"{three_digits(scaled / per)} {unit}"


def size_text(size: float) -> str:
    """Write bytes.

    Examples
    --------
    >>> size_text(206_975_448), size_text(12_954), size_text(999_999), size_text(0)
    ('207 MB', '13 KB', '1 MB', '0 B')
    """
    return reading("_bytes", size)


def time_text(time_us: float) -> str:
    """Write microseconds.

    Examples
    --------
    >>> time_text(744.04), time_text(51_691.4), time_text(0.0042)
    ('744 us', '51.7 ms', '4.2 ns')
    """
    return reading("_us", time_us)


def share_text(share: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> share_text(0.334), share_text(0.0004), share_text(0.99999), share_text(0)
    ('33 %', '< 1 %', '> 99 %', '0 %')
    """
    percent = 100 * share
    if 0 < percent < 1:
        return "< 1 %"
    if 99.5 <= percent < 100:  # noqa: PLR2004 (nearly all is not all)
        return "> 99 %"
    return f"{percent:.0f} %"
