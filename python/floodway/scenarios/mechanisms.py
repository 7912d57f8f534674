"""Mechanisms of your own, written in Python: rate controls and congestion points.

A class makes a mechanism: its name in kebab-case is what scenarios call it, its annotated attributes are its
parameters, its docstring is its page. An object of it stands at each sender, or at each egress port.

Examples
--------
>>> import floodway
>>> from floodway.builders import Burst, SingleSwitch, Workload
>>> class OneWindow(floodway.RateControl):
...     '''Keep a bandwidth-delay product in flight, and halve it for good when anything is marked.'''
...
...     share: float = 1.0
...
...     def start(self, flow):
...         self.window_bytes = self.share * flow.bdp_bytes
...
...     def on_ack(self, ack):
...         if ack.marked:
...             self.window_bytes = max(self.window_bytes / 2, 1000)
>>> scenario = floodway.Scenario(
...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
...     defaults={"rate-control": {"one-window": {"share": 0.5}}},
... )
>>> floodway.run(scenario).flows["finished"].to_list()
[True, True]
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import marshal
import math
import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_origin

from floodway import _floodway
from floodway.common.errors import InputError, MechanismError
from floodway.common.names import nearest
from floodway.scenarios.own_classes import (
    documented,
    fault_of,
    line_of,
    own_frames,
    refuse_callbacks,
    refuse_keywords,
)
from floodway.scenarios.own_code import FILES, REGISTERED, Registered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import CodeType

    from floodway._floodway import Ack, Cnp, Flow, Loss, Packet, Port, Queue, Sent

__all__ = [
    "CongestionPoint",
    "Duration",
    "Rate",
    "RateControl",
    "Size",
    "execute",
    "line_of",
    "load_file",
    "name_of",
    "neighbours_digest",
    "no_values",
]

#: Types of parameters, by name: with deferred annotations a class knows no more of them.
TYPES: dict[str, type] = {"int": int, "float": float, "bool": bool, "str": str}


class _Unit(int):
    """A whole number that is written with a unit."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Read a text with its unit.

        Raises
        ------
        ValueError
            If it is invalid, for example without a unit.
        """
        value = super().__new__(cls, _floodway.parse_unit(cls.__name__, text))
        value.text = text
        return value


class Duration(_Unit):
    """A time as a parameter, in picoseconds.

    Examples
    --------
    >>> int(Duration("10us"))
    10000000
    """


class Size(_Unit):
    """A size as a parameter, in bytes.

    Examples
    --------
    >>> int(Size("100KB"))
    100000
    """


class Rate(_Unit):
    """A rate as a parameter, in bit/s.

    Examples
    --------
    >>> int(Rate("25G"))
    25000000000
    """


TYPES |= {kind.__name__: kind for kind in (Duration, Size, Rate)}
#: The inputs that a rate control can need.
NEEDS = ("acks", "int", "marks", "timestamps")
#: Ways in which a congestion point can notify senders.
TELLS = ("marks", "cnps")

#: Files that are being loaded, the innermost last.
_LOADING: list[Path] = []


class _Chosen:
    """A class whose objects floodway makes: other calls with values are mistakes."""

    def __init__(self, *values: object, **keywords: object) -> None:
        order = type(self).__mro__
        # Another class may accept the arguments.
        if (values or keywords) and order[order.index(_Chosen) + 1] is object:
            raise TypeError(no_values(type(self), keywords))
        super().__init__(*values, **keywords)


class RateControl(_Chosen):
    """A rate control of your own: one object for each sending queue pair.

    The attributes below are read after each call, and a value holds until the object sets another one.
    Fractions of numbers are cut off. Two runs of one scenario are equal if the code is deterministic: random
    numbers must come from a generator with a seed of its own.

    A run with such a class uses one thread.

    Parameters
    ----------
    name
        Its name in scenarios; by default the class's name in kebab-case.
    needs
        Inputs that it needs: any of `acks`, `marks` (of congestion points), `timestamps` (which take some
        bytes of each packet) and `int` (telemetry of each hop, `Ack.hops`).

    Attributes
    ----------
    rate_bps
        Rate at which packets leave, in bit/s on the wire; None is no limit but the NIC's.
    window_bytes
        Payload that may be in flight, in bytes; None is no limit.
    timer_ps
        When to call `on_timer`, in picoseconds of simulated time; None for never.

    Raises
    ------
    TypeError
        If a class has an attribute that cannot be a parameter, or a method that is never called.
    """

    rate_bps: float | None = None
    window_bytes: float | None = None
    timer_ps: float | None = None

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        needs: Sequence[str] = ("acks",),
        **rest: Any,  # noqa: ANN401 (of other bases)
    ) -> None:
        """Make the class known to scenarios."""
        why = "`tells` is for congestion points; a rate control takes `needs`"
        refuse_keywords(cls, RateControl, rest, {"name": "", "needs": "", "tells": why})
        super().__init_subclass__(**rest)
        methods = ("start", "on_ack", "on_cnp", "on_loss", "on_sent", "on_timer")
        described = _described(cls, RateControl, methods, ("window_bytes", "rate_bps", "timer_ps"))
        described["needs"] = _choices(cls, "needs", needs, NEEDS)
        described["tells"] = []
        _register(cls, name, "rate-control", described, _floodway.register_rate_control)

    def start(self, flow: Flow) -> None:
        """A queue pair begins.

        It is also called before a run, with an example, so that errors are reported before the simulation.

        Parameters
        ----------
        flow
            The constant properties of the queue pair.
        """

    def on_ack(self, ack: Ack) -> None:
        """An acknowledgement has arrived.

        Parameters
        ----------
        ack
            The acknowledgement; `hops` is empty unless the class needs `int`.
        """

    def on_cnp(self, cnp: Cnp) -> None:
        """A CNP has arrived; receivers send CNPs only to a class that has this method.

        Parameters
        ----------
        cnp
            The CNP, with the rate, window or weight that a congestion point gave it.
        """

    def on_loss(self, loss: Loss) -> None:
        """The sender has detected a loss.

        Parameters
        ----------
        loss
            The loss.
        """

    def on_sent(self, sent: Sent) -> None:
        """A data packet starts on the wire.

        Parameters
        ----------
        sent
            The packet.
        """

    def on_timer(self, now_ps: int) -> None:
        """The time of `timer_ps` has come; the attribute is None again.

        Parameters
        ----------
        now_ps
            The simulated time, in picoseconds.
        """


class CongestionPoint(_Chosen):
    """A congestion point of your own: one object for each egress port that it is chosen for.

    A run with such a class uses one thread.

    Parameters
    ----------
    name
        Its name in scenarios; by default the class's name in kebab-case.
    tells
        Its notifications to senders: `marks`, `cnps` or both.

    Attributes
    ----------
    timer_ps
        When to call `on_timer`, in picoseconds of simulated time; None for never.

    Raises
    ------
    TypeError
        If a class has an attribute that cannot be a parameter, or a method that is never called.
    """

    timer_ps: float | None = None
    _cnps: list[tuple[int, int | None, int | None, float]]

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        tells: Sequence[str] = ("marks",),
        **rest: Any,  # noqa: ANN401 (of other bases)
    ) -> None:
        """Make the class known to scenarios."""
        why = "`needs` is for rate controls; a congestion point takes `tells`"
        refuse_keywords(cls, CongestionPoint, rest, {"name": "", "tells": "", "needs": why})
        super().__init_subclass__(**rest)
        methods = (
            *("start", "admit", "on_enqueue", "on_dequeue", "on_paused", "on_resumed", "on_removed"),
            "on_timer",
        )
        described = _described(cls, CongestionPoint, methods, ("timer_ps",))
        described["needs"] = []
        described["tells"] = _choices(cls, "tells", tells, TELLS)
        _register(cls, name, "congestion-point", described, _floodway.register_congestion_point)

    def start(self, port: Port) -> None:
        """A port begins; it is also called before a run, with an example.

        Parameters
        ----------
        port
            The constant properties of the port.
        """

    def admit(self, packet: Packet, queue: Queue) -> bool:  # noqa: ARG002 (for others)
        """Whether to take a packet in, rather than drop it, before it joins its queue.

        With it, no other mechanism of the port may decide how packets queue, such as ``casl``.

        Parameters
        ----------
        packet
            The packet.
        queue
            Its queue, without it.

        Returns
        -------
        bool
            True to take it in, False to drop it.
        """
        return True

    def on_enqueue(self, packet: Packet, queue: Queue) -> bool | None:
        """A packet has joined its queue.

        Parameters
        ----------
        packet
            The packet.
        queue
            Its queue, with it.

        Returns
        -------
        bool or None
            True to mark it CE, if it may be marked.
        """

    def on_dequeue(self, packet: Packet, queue: Queue) -> bool | None:
        """A packet starts on the wire.

        Parameters
        ----------
        packet
            The packet.
        queue
            Its queue, without it.

        Returns
        -------
        bool or None
            True to mark it CE, if it may be marked.
        """

    def on_paused(self, queue: Queue) -> None:
        """The downstream has paused the class of a queue.

        Parameters
        ----------
        queue
            The queue.
        """

    def on_resumed(self, queue: Queue) -> None:
        """The pause of the class of a queue has ended, by a frame or by its time.

        Parameters
        ----------
        queue
            The queue.
        """

    def on_removed(self, packet: Packet) -> None:
        """A packet has left its queue and will not be sent.

        Parameters
        ----------
        packet
            The packet.
        """

    def on_timer(self, now_ps: int) -> None:
        """The time of `timer_ps` has come; the attribute is None again.

        Parameters
        ----------
        now_ps
            The simulated time, in picoseconds.
        """

    def send_cnp(
        self,
        flow: int,
        *,
        rate_bps: float | None = None,
        window_bytes: float | None = None,
        degree: float = 0.0,
    ) -> None:
        """Send a CNP from here to the source of a flow.

        Parameters
        ----------
        flow
            `Packet.flow` of the current packet, in `on_enqueue`, `on_dequeue` or `on_removed`: in other
            methods the number may be another flow's, and is refused.
        rate_bps, window_bytes
            Rate in bit/s and window in bytes for the sender; None leaves it to the sender.
        degree
            Weight of the CNP, which some rate controls read.

        Raises
        ------
        ValueError
            If a value is not a rate, window or weight.
        """
        for name, value in (("rate_bps", rate_bps), ("window_bytes", window_bytes)):
            if value is not None and not 1 <= value < 2**64:
                raise ValueError(f"send_cnp: {name} = {value!r}; allowed: 1 or more, or None")
        if not math.isfinite(degree):
            raise ValueError(f"send_cnp: degree = {degree!r}; allowed: a finite number")
        rate = None if rate_bps is None else int(rate_bps)
        window = None if window_bytes is None else int(window_bytes)
        self._cnps.append((flow, rate, window, degree))


def name_of(cls: type) -> str | None:
    """Return the name of a class in scenarios; `None` for a class that is not a mechanism."""
    names = (full.partition(".")[2] for full, registered in REGISTERED.items() if registered.cls is cls)
    return next(names, None)


def no_values(cls: type, keywords: Mapping[str, object]) -> str:
    """Return the text of an error where an object was made: how a scenario chooses its class."""
    name = name_of(cls) or _kebab(cls.__name__)
    keys = {key.replace("_", "-"): getattr(value, "text", value) for key, value in keywords.items()}
    choice = {name: keys} if keys else name
    return (
        f"{cls.__name__} is chosen by its name, with values in a table: {choice!r}; floodway makes its "
        "objects, one for each sender or port"
    )


def _described(cls: type, base: type, methods: Sequence[str], outputs: Sequence[str]) -> dict[str, Any]:
    classes = [ancestor for ancestor in cls.__mro__ if issubclass(ancestor, base) and ancestor is not base]
    for ancestor in classes:
        for attribute, value in vars(ancestor).items():
            if attribute.startswith("on_") and callable(value) and attribute not in methods:
                near = nearest(attribute, methods)
                hint = f"; did you mean {near}?" if near else ""
                raise TypeError(
                    f"{ancestor.__name__}.{attribute} is never called; allowed: {', '.join(methods)}{hint}"
                )
    refuse_callbacks(cls, methods)
    return {
        "fault": fault_of(cls, base, methods, outputs),
        "parameters": list(_parameters(cls, classes, base)),
        "overrides": [method for method in methods if getattr(cls, method) is not getattr(base, method)],
    }


def _parameters(cls: type, classes: list[type], base: type) -> Iterator[tuple[str, str, str, str | None]]:
    annotations: dict[str, Any] = {}
    for ancestor in reversed(classes):
        annotations |= inspect.get_annotations(ancestor)
    for attribute, annotation in annotations.items():
        if attribute.startswith("_") or hasattr(base, attribute):
            continue
        kind = _kind(f"{cls.__name__}.{attribute}", annotation)
        if kind is None:
            continue
        default = getattr(cls, attribute, None)
        fits = isinstance(default, kind) or (kind is float and isinstance(default, int))
        if default is not None and (not fits or (isinstance(default, bool) and kind is not bool)):
            raise TypeError(f"{cls.__name__}.{attribute} = {default!r} is not of type {kind.__name__}")
        written = None if default is None else json.dumps(getattr(default, "text", default))
        yield attribute.replace("_", "-"), attribute, kind.__name__, written


def _kind(name: str, annotation: object) -> type | None:
    """Return the type of a parameter; none where it is a variable of the class."""
    spelled = annotation if isinstance(annotation, str) else None
    if get_origin(annotation) is ClassVar or (spelled or "").partition("[")[0].endswith("ClassVar"):
        return None
    kind = TYPES.get(spelled.rpartition(".")[2]) if spelled is not None else annotation
    for allowed in TYPES.values():
        if kind is allowed:
            return allowed
    spelling = spelled or getattr(annotation, "__name__", str(annotation))
    raise TypeError(
        f"{name}: {spelling} is not a type of a parameter; allowed: {', '.join(TYPES)}. ClassVar[...] "
        "and names that begin with _ are not parameters"
    )


def _choices(cls: type, keyword: str, values: Sequence[str], allowed: Sequence[str]) -> list[str]:
    choices = [values] if isinstance(values, str) else list(values)
    for choice in choices:
        if choice not in allowed:
            raise TypeError(
                f"{cls.__name__}: {keyword}={choice!r} is not allowed; allowed: {', '.join(allowed)}"
            )
    return choices


def _register(cls: type, name: str | None, slot: str, described: dict[str, Any], register: Any) -> None:  # noqa: ANN401 (either of two)
    called = _kebab(cls.__name__) if name is None else name
    full, by = f"{slot}.{called}", _LOADING[-1] if _LOADING else None
    before = REGISTERED.get(full)
    other = None if before is None else before.file
    if by is not None and other is not None:
        raise TypeError(
            f"{cls.__name__}: {other.name} has a {slot} {called!r} already; give it a name of its own,"
            f' such as class {cls.__name__}(..., name="{called}-2")'
        )
    base = RateControl if issubclass(cls, RateControl) else CongestionPoint
    classes = [ancestor for ancestor in cls.__mro__ if issubclass(ancestor, base) and ancestor is not base]
    document, meanings = documented(cls, classes)
    head = document or f"`{cls.__name__}`, written in Python."
    register(called, head, cls, described)
    by_key = {attribute.replace("_", "-"): text for attribute, text in meanings.items()}
    REGISTERED[full] = Registered(cls=cls, digest=_digest_of(cls), meanings=by_key, file=by or other)


def _kebab(name: str) -> str:
    """Spell a class's name as scenarios do.

    >>> _kebab("MyControl"), _kebab("HPCCLike"), _kebab("Aimd2")
    ('my-control', 'hpcc-like', 'aimd2')
    """
    parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*", name)
    return "-".join(part.lower() for part in parts)


def _digest_of(cls: type) -> str:
    """Hash the code of a class: its whole file where it has one, else the code of the class itself."""
    try:
        file = inspect.getsourcefile(cls)
        code = Path(file).read_bytes() if file and Path(file).is_file() else inspect.getsource(cls).encode()
    except (OSError, TypeError):
        members = sorted(vars(cls).items())
        codes = [_plain(value.__code__) for _, value in members if inspect.isfunction(value)]
        values = repr([(name, value) for name, value in members if isinstance(value, (int, float, str))])
        code = b"".join([*codes, values.encode()])
    return hashlib.sha256(code).hexdigest()


def _plain(code: CodeType) -> bytes:
    return marshal.dumps(code.replace(co_filename="", co_firstlineno=1))


def load_file(path: Path, *, name: str | None = None) -> None:
    """Execute a Python file, whose classes become mechanisms; once in a process.

    It can import modules beside it, unless a module of Python or of a package has that name.

    Parameters
    ----------
    path
        The file.
    name
        Its name in messages; by default the path.

    Raises
    ------
    InputError
        If there is no such file.
    MechanismError
        If the file raises an exception, which is the cause of this one.
    """
    name = name or str(path)
    path = path.resolve()
    if path in FILES:
        return
    if not path.is_file():
        raise InputError(f"{name}: there is no such file")
    if path.suffix != ".py":
        raise InputError(f"{name}: a file of Python ends with .py")
    _LOADING.append(path)
    try:
        execute(path)
    except Exception as error:
        for registered in _of_file(path):
            registered.file = None
        # Frames of floodway and of imports do not help the user.
        error.__traceback__ = own_frames(error.__traceback__)
        raise MechanismError(name) from error
    finally:
        _LOADING.pop()
    neighbours = neighbours_digest(path)
    for registered in _of_file(path):
        registered.digest += f"+{neighbours}"
    FILES[path] = name


def _of_file(path: Path) -> list[Registered]:
    return [registered for registered in REGISTERED.values() if registered.file == path]


#: Packages whose files are not a part of a user's code.
PACKAGES = ("floodway", "floodway_lab")


def execute(path: Path) -> None:
    """Execute a file as a module; it can import modules beside it.

    Its folder is searched last: a file called `random.py` or `numpy.py` replaces neither Python's own module
    nor that of a package. Such a file itself becomes a module with a name that nothing imports.

    Parameters
    ----------
    path
        The file, resolved; it ends with .py.

    Raises
    ------
    Exception
        Any exception that the file raises.
    """
    folder, name = str(path.parent), _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None  # noqa: PT018, S101 (by its ending)
    module = importlib.util.module_from_spec(spec)
    if folder not in sys.path:
        sys.path.append(folder)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _module_name(path: Path) -> str:
    """Return the name of a file's module: its stem, unless that is the name of another module.

    >>> _module_name(Path("/nowhere/my_control.py"))
    'my_control'
    >>> _module_name(Path("/nowhere/random.py")).startswith("random_")
    True
    """
    stem = path.stem
    is_other = stem in sys.modules or stem in sys.stdlib_module_names or _is_found_elsewhere(stem, path)
    return f"{stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}" if is_other else stem


def _is_found_elsewhere(stem: str, path: Path) -> bool:
    # Not all folders have a loader, and not every stem is a name.
    spec = PathFinder.find_spec(stem) if stem.isidentifier() else None
    return spec is not None and (spec.origin is None or Path(spec.origin).resolve() != path)


def neighbours_digest(path: Path) -> str:
    """Hash a file and the modules that it imported from its folder, installed packages excepted."""
    folder = path.parent
    files = {
        Path(file)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in PACKAGES and (file := getattr(module, "__file__", None))
    }
    neighbours = sorted(
        file for file in files if file.is_relative_to(folder) and "site-packages" not in file.parts
    )
    code = hashlib.sha256()
    for file in neighbours:
        if file.is_file():
            code.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return code.hexdigest()
