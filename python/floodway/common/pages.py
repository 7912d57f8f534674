"""Pages of HTML: self-contained files of which browsers run and load nothing but what floodway put in."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

__all__ = ["environment", "policy"]


def policy(*scripts: str) -> str:
    """Return the Content-Security-Policy of a page, which allows its own styles, pictures and scripts alone.

    It has to stand before all that it concerns.

    Parameters
    ----------
    scripts
        The texts of the scripts that may run, each as between its tags.
    """
    hashes = " ".join(
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    allowed = (
        "default-src 'none'",
        *((f"script-src {hashes}",) if scripts else ()),
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(allowed)}">'


def environment(*packages: str) -> Environment:
    """Return the environment of the templates of packages, searched in this order; values are escaped."""
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["policy"] = policy
    return templates
