"""Run mutants of the code of crates/mechanisms, all or a random sample, and say which share its tests catch.

    python .ci/mutation.py [--sample 100] [--seed 1] [--jobs 2] [--file PART] [--least 95]

A mutant is the code with one operator or result changed. Needs `cargo install --locked cargo-mutants`, whose
files are in out/mutants.out/. Fails where the share is below the least.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
PACKAGE = "floodway-mechanisms"
#: The two-sided 95 % quantile of the normal distribution.
QUANTILE = 1.959964


@dataclass(frozen=True, slots=True)
class Score:
    """What became of the mutants that were tried.

    Attributes
    ----------
    caught, timeouts, missed, unviable
        Mutants for which a test fails; for which a test does not end; for which all tests pass; that do not
        compile, which count as not tried.
    """

    caught: int
    timeouts: int
    missed: int
    unviable: int

    @property
    def tried(self) -> int:
        """Mutants that compile."""
        return self.caught + self.timeouts + self.missed

    @property
    def share(self) -> float:
        """The share of these that tests notice, whether they fail or do not end."""
        return (self.caught + self.timeouts) / self.tried if self.tried else 0.0

    def interval(self) -> tuple[float, float]:
        """Return Wilson's 95 % interval of the share among all mutants, where these were drawn at random."""
        n, p, z = self.tried, self.share, QUANTILE
        if n == 0:
            return 0.0, 1.0
        middle = p + z * z / (2 * n)
        half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        scale = 1 + z * z / n
        return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def score_of(outcomes: Mapping[str, object]) -> Score:
    """Return the score in cargo-mutants' outcomes.json."""

    def number(key: str) -> int:
        value = outcomes.get(key, 0)
        return value if isinstance(value, int) else 0

    return Score(number("caught"), number("timeout"), number("missed"), number("unviable"))


def shard(number: int, sample: int, seed: int) -> str:
    """Return the part of `number` mutants that has about `sample`: each n-th, the first drawn at random."""
    parts = max(1, round(number / sample)) if sample else 1
    # The draw decides which mutants are tried, and nothing of security.
    return f"{random.Random(seed).randrange(parts)}/{parts}"  # noqa: S311


def summary(score: Score, of: int) -> str:
    """Return the report of a run of some or all of `of` mutants."""
    chosen = score.tried + score.unviable
    low, high = score.interval()
    text = (
        f"{chosen} of {of} mutants: {score.caught} caught, {score.timeouts} timed out, "
        f"{score.missed} missed, {score.unviable} do not compile\n"
        f"noticed: {score.share:.1%} of {score.tried}"
    )
    if chosen < of:
        text += f"; of all mutants {low:.1%} to {high:.1%} (95 % interval of a random sample)"
    return text


def main() -> None:
    """Run mutants and print the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=0, help="about so many mutants; default: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at once")
    parser.add_argument("--file", default="", help="only files whose path ends with this")
    parser.add_argument("--least", type=float, default=95.0, help="the share in percent below which it fails")
    given = parser.parse_args()
    command = ["cargo", "mutants", "--package", PACKAGE]
    if given.file:
        command += ["--file", f"crates/mechanisms/src/**/{given.file}"]
    listed = subprocess.run([*command, "--list"], cwd=ROOT, check=True, capture_output=True, text=True)
    number = len(listed.stdout.splitlines())
    if not number:
        sys.exit(f"no file of {PACKAGE} with mutants is {given.file}")
    command += ["--sharding", "round-robin", "--shard", shard(number, given.sample, given.seed)]
    (ROOT / "out").mkdir(exist_ok=True)
    command += ["--jobs", str(given.jobs), "--shuffle", "--output", "out"]
    ended = subprocess.run(command, cwd=ROOT, check=False).returncode
    # 2 and 3: mutants were missed, or timed out.
    if ended not in {0, 2, 3}:
        sys.exit(ended)
    outcomes = json.loads((ROOT / "out/mutants.out/outcomes.json").read_text(encoding="utf-8"))
    score = score_of(outcomes)
    sys.stdout.write(f"{summary(score, number)}\n")
    if score.share * 100 < given.least:
        sys.exit(f"fewer than {given.least:g} % are noticed: out/mutants.out/missed.txt names the others")


if __name__ == "__main__":
    main()
