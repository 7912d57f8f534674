"""Random values of the schema's forms, near the defaults where it names some."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LIKELY", "Json", "Values"]

Json = dict[str, Any]

#: Units of a quantity's pattern, and what is likely there where nothing is known of the parameter.
LIKELY: Mapping[str, tuple[str, ...]] = {
    "B": ("1KB", "5KB", "20KB", "64KiB", "100KB", "400KB", "1MB", "1501B"),
    "ps": ("300ns", "1us", "4us", "10us", "55us", "100us", "1ms"),
    "bps": ("1G", "10G", "25G", "100G", "400G"),
    "m": ("1m", "100m", "2km", "10km"),
}
_INTEGERS = (1, 2, 3, 4, 8, 16, 64)
_NUMBERS = (0.0, 0.01, 0.1, 0.25, 0.5, 0.9, 1.0, 2.0)
_SCALES = (0.1, 0.5, 1.0, 1.0, 2.0, 7.0)
#: A parameter is given so often; the others keep their defaults, with which most fit together.
_GIVEN = 0.12


class Values:
    """Draws values from the definitions of a schema."""

    def __init__(self, seed: int, definitions: Json) -> None:
        self._random = random.Random(seed)  # noqa: S311 (reproducible, not secret)
        self._definitions = definitions

    def _table(self, definition: str, *, given: float) -> Json:
        return self._properties(self._definitions[definition], given)

    def _properties(self, form: Json, given: float) -> Json:
        required = form.get("required", ())
        return {
            key: self._value(schema)
            for key, schema in form.get("properties", {}).items()
            if key in required or self._often(given)
        }

    def _value(self, schema: Json) -> Any:  # noqa: ANN401 (a value of JSON)
        if "$ref" in schema:
            form = self._definitions[schema["$ref"].rsplit("/", 1)[-1]]
            if form.get("type") == "object":
                return self._properties(form, _GIVEN)
            default = {"default": schema["default"]} if "default" in schema else {}
            return self._value({**form, **default})
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self._value(self._one(schema[key]))
        if "const" in schema:
            return schema["const"]
        return self._one(schema["enum"]) if "enum" in schema else self._of_type(schema)

    def _of_type(self, schema: Json) -> Any:  # noqa: ANN401 (a value of JSON)
        kind = schema.get("type")
        if kind == "string":
            return self._quantity(schema.get("pattern", ""), schema.get("default"))
        if kind == "boolean":
            return self._often(0.5)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "array":
            return [self._value(item) for item in schema.get("prefixItems") or [schema["items"]]]
        return self._properties(schema, _GIVEN)

    def _quantity(self, pattern: str, default: object) -> str:
        scaled = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", default) if isinstance(default, str) else None
        if scaled and float(scaled[1]):
            return f"{float(scaled[1]) * self._one(_SCALES):.3g}{scaled[2]}".replace("e+", "e")
        units = pattern.rsplit("(", 1)[-1].rstrip(")$").split("|")
        for unit, likely in LIKELY.items():
            if unit in units:
                return str(self._one(likely))
        return "x"

    def _number(self, schema: Json, *, whole: bool) -> int | float:
        default = schema.get("default")
        known = default if isinstance(default, int | float) and default else None
        number = known * self._one(_SCALES) if known else self._one(_INTEGERS if whole else _NUMBERS)
        number = min(max(number, schema.get("minimum", number)), schema.get("maximum", number))
        return round(number) if whole else float(number)

    # ---- chance

    def _one(self, values: Any) -> Any:  # noqa: ANN401 (whatever they are)
        return self._random.choice(values)

    def _often(self, share: float) -> bool:
        return self._random.random() < share

    @staticmethod
    def _time(us: float) -> str:
        return f"{round(us * 1000)}ns"
