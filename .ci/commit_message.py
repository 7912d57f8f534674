"""Check the message of a commit: `git commit` gives its file.

The subject has at most 72 characters and no full stop, and a blank line divides it from the body.
"""

from __future__ import annotations

import sys
from pathlib import Path

#: Characters of a subject, and of a line of a body.
WIDEST = 72


def faults(message: str) -> list[str]:
    """Return what is wrong with a message, a sentence each.

    Examples
    --------
    >>> faults("Drop packets that no route leads to")
    []
    >>> faults("Drop packets.")
    ['the subject ends with a full stop']
    """
    lines = [line.rstrip() for line in message.splitlines() if not line.startswith("#")]
    subject, rest = (lines[0], lines[1:]) if lines else ("", [])
    if subject.startswith(("Merge ", "Revert ", "fixup! ", "squash! ")):
        return []
    found = []
    if not subject:
        found.append("there is no subject")
    if len(subject) > WIDEST:
        found.append(f"the subject has {len(subject)} characters; at most {WIDEST} are allowed")
    if subject.endswith("."):
        found.append("the subject ends with a full stop")
    if subject and not subject[0].isupper():
        found.append("the subject begins with a small letter")
    if rest and rest[0]:
        found.append("no blank line follows the subject")
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.exit("\n".join(f"commit message: {each}" for each in wrong) if wrong else 0)
