//! Congestion points in Python.

use floodway_mechanisms::registry::{CongestionPointParams, CustomDetection};
use floodway_mechanisms::slots::{
    Cnp, CongestionPoint, CpAction, Cx, Detection, Discipline, DropReason, Mark, Need, PacketView,
    ParamError, PortEvent, PortInfo, QueueView, Queueing, SignalKind,
};
use floodway_units::{Bytes, FlowId, Rate, Rng, Time};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::class::{Chosen, Described, Object, entry};
use super::views::{Packet, Port, Queue};

/// Registers a class as a congestion point of scenarios; `head` is its page.
#[pyfunction]
pub fn register_congestion_point(
    name: &str,
    head: String,
    class_: &Bound<'_, PyAny>,
    described: Described,
) -> PyResult<()> {
    let boxed = |chosen| Box::new(chosen) as Box<dyn CustomDetection>;
    let (page, read) = entry(format!("congestion-point.{name}"), head, class_, described, boxed)?;
    CongestionPointParams::register_as(name, true, page, read)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

impl Detection for Chosen {
    type Cp = Cp;

    fn build(&self, port: &PortInfo) -> Result<Cp, ParamError> {
        let mut timer = None;
        let place = |work: &super::calls::Work| work.port_name(port.port).map(str::to_owned);
        let object = Object::start(self, place, |object| {
            let py = object.py();
            object.setattr(intern!(py, "_cnps"), PyList::empty(py))?;
            object.call_method1(intern!(py, "start"), (Port::new(port),))?;
            timer = Object::timer_after("start", object, Time::ZERO)?;
            sends_none("start", object)
        });
        let overrides = |name| self.class.overrides(name);
        Ok(Cp {
            object,
            timer,
            admits: overrides("admit"),
            overrides: Overrides {
                enqueue: overrides("on_enqueue"),
                dequeue: overrides("on_dequeue"),
                paused: overrides("on_paused"),
                resumed: overrides("on_resumed"),
                removed: overrides("on_removed"),
            },
        })
    }

    fn needs(&self) -> &'static [Need] {
        self.class.needs
    }

    fn signal_kinds(&self) -> &'static [SignalKind] {
        self.class.signal_kinds
    }
}

/// An object of the class: one per egress port.
pub struct Cp {
    object: Object,
    timer: Option<Time>,
    admits: bool,
    overrides: Overrides,
}

/// The methods that the class overrides.
#[allow(clippy::struct_excessive_bools, reason = "each is a method of its own")]
struct Overrides {
    enqueue: bool,
    dequeue: bool,
    paused: bool,
    resumed: bool,
    removed: bool,
}

impl Cp {
    /// Calls a method with its arguments, and sends the CNPs that it requests to the source of the current
    /// packet; returns the result of `answer` for its return value.
    fn call<T>(
        &mut self,
        name: &'static str,
        cx: &mut Cx<'_, CpAction>,
        in_hand: Option<FlowId>,
        views: impl for<'py> PyCallArgs<'py>,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let now = cx.now;
        let (answer, timer) = self.object.call(name, now, |object| {
            let answer = answer(&object.call_method1(PyString::intern(object.py(), name), views)?)?;
            send(object, cx, in_hand)?;
            Ok((answer, Object::timer_after(name, object, now)?))
        })?;
        self.timer = timer;
        Some(answer)
    }

    /// Calls a method that may mark the current packet.
    fn marks(
        &mut self,
        name: &'static str,
        cx: &mut Cx<'_, CpAction>,
        p: &PacketView,
        q: &QueueView,
    ) -> Mark {
        let views = (Packet::new(cx.now, p), Queue::new(cx.now, q));
        self.call(name, cx, Some(p.flow), views, |answer| mark_of(answer, name, p)).unwrap_or_default()
    }
}

/// The return value of a method for the packet: mark it CE, or not.
fn mark_of(answer: &Bound<'_, PyAny>, method: &str, p: &PacketView) -> PyResult<Mark> {
    let is_marked = if answer.is_none() {
        false
    } else {
        answer.extract::<bool>().map_err(|_| {
            let given = answer.repr().map(|repr| repr.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!(
                "{method} returned {given}; allowed: True marks, False and None do not"
            ))
        })?
    };
    Ok(if is_marked && p.ecn_capable { Mark::Ce } else { Mark::None })
}

fn put_down<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    Ok(object.getattr(intern!(object.py(), "_cnps"))?.cast_into::<PyList>()?)
}

/// Checks that a method in which `send_cnp` is not allowed has not called it.
fn sends_none(method: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
    if put_down(object)?.is_empty() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "send_cnp in {method}; allowed: in on_enqueue, on_dequeue and on_removed, for the current packet"
    )))
}

/// Sends the CNPs that `send_cnp` has stored, which are for the flow of the current packet: another number
/// may now belong to another flow, or to none.
fn send(object: &Bound<'_, PyAny>, cx: &mut Cx<'_, CpAction>, in_hand: Option<FlowId>) -> PyResult<()> {
    let cnps = put_down(object)?;
    if cnps.is_empty() {
        return Ok(());
    }
    for cnp in &cnps {
        let (flow, rate, window, degree) = cnp.extract::<(i128, Option<u64>, Option<u64>, f32)>()?;
        let Some(flow) = in_hand.filter(|hand| i128::from(hand.0) == flow) else {
            let allowed = in_hand.map_or_else(
                || String::from("nothing, because there is no current packet here"),
                |hand| format!("{}, the flow of the current packet", hand.0),
            );
            return Err(PyValueError::new_err(format!("send_cnp({flow}); allowed: {allowed}")));
        };
        cx.push(CpAction::ToSource(Cnp {
            window: window.map(Bytes),
            rate: rate.map(Rate),
            degree,
            ..Cnp::of(flow, Mark::Ce)
        }));
    }
    cnps.call_method0(intern!(object.py(), "clear")).map(drop)
}

impl CongestionPoint for Cp {
    fn as_discipline(&self) -> Option<&dyn Discipline> {
        if self.admits { Some(self) } else { None }
    }

    fn as_discipline_mut(&mut self) -> Option<&mut dyn Discipline> {
        if self.admits { Some(self) } else { None }
    }

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if self.overrides.enqueue { self.marks("on_enqueue", cx, p, q) } else { Mark::None }
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if self.overrides.dequeue { self.marks("on_dequeue", cx, p, q) } else { Mark::None }
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        let now = cx.now;
        match event {
            PortEvent::Paused(q) if self.overrides.paused => {
                self.call("on_paused", cx, None, (Queue::new(now, q),), |_| Ok(()));
            }
            PortEvent::Resumed(q) if self.overrides.resumed => {
                self.call("on_resumed", cx, None, (Queue::new(now, q),), |_| Ok(()));
            }
            PortEvent::Removed(p) if self.overrides.removed => {
                self.call("on_removed", cx, Some(p.flow), (Packet::new(now, p),), |_| Ok(()));
            }
            _ => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.timer
    }

    fn on_timeout(&mut self, cx: &mut Cx<'_, CpAction>) {
        let now = cx.now;
        self.timer = None;
        self.object.clear_timer(now);
        self.call("on_timer", cx, None, (now.0,), |_| Ok(()));
    }
}

/// Where the class has `admit`.
impl Discipline for Cp {
    fn queueing(&self) -> Queueing {
        Queueing::Fifo
    }

    fn admit(&mut self, now: Time, _rng: &mut Rng, p: &PacketView, q: &QueueView) -> Option<DropReason> {
        let taken = self.object.call("admit", now, |object| {
            let views = (Packet::new(now, p), Queue::new(now, q));
            let answer = object.call_method1(intern!(object.py(), "admit"), views)?;
            let taken = answer.extract::<bool>().map_err(|_| {
                let given = answer.repr().map(|repr| repr.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!(
                    "admit returned {given}; allowed: True takes the packet, False drops it"
                ))
            })?;
            sends_none("admit", object)?;
            Ok(taken)
        });
        (taken == Some(false)).then_some(DropReason::Selective)
    }
}
