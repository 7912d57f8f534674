//! Congestion points in Python.

use floodway_mechanisms::registry::{CongestionPointParams, CustomDetection};
use floodway_mechanisms::slots::{
    Claim, CongestionPoint, CpAction, Cx, Demands, Detection, DropReason, Mark, Need, Notice, PacketView,
    ParamError, PortEvent, PortInfo, QueueView, Tells,
};
use floodway_units::{Bytes, FlowId, Rate, Rng, Time};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::class::{Chosen, Described, Object, entry, whole};
use super::views::{Packet, Port, Queue};

/// Makes a class a congestion point of scenarios; `head` is its page.
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
            timer = timer_of(object)?;
            Ok(())
        });
        let overrides = |name| self.class.overrides(name);
        Ok(Cp {
            object,
            timer,
            admits: overrides("admit"),
            hears: Heard {
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

    fn tells(&self) -> &'static [Tells] {
        self.class.tells
    }
}

/// An object of the class: one per egress port.
pub struct Cp {
    object: Object,
    timer: Option<Time>,
    admits: bool,
    hears: Heard,
}

/// Which methods the class overrides.
#[allow(clippy::struct_excessive_bools, reason = "each is a method of its own")]
struct Heard {
    enqueue: bool,
    dequeue: bool,
    paused: bool,
    resumed: bool,
    removed: bool,
}

impl Cp {
    /// Calls a method with what it is told, and sends the CNPs that it wants to have sent; what `answer` makes of what it returns.
    fn call<T>(
        &mut self,
        name: &'static str,
        cx: &mut Cx<'_, CpAction>,
        views: impl for<'py> PyCallArgs<'py>,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let now = cx.now;
        let (answer, timer) = self.object.call(name, now, |object| {
            let answer = answer(&object.call_method1(PyString::intern(object.py(), name), views)?)?;
            send(object, cx)?;
            Ok((answer, timer_of(object)?))
        })?;
        self.timer = timer.map(|timer| timer.max(now));
        Some(answer)
    }

    /// Calls a method that may mark the packet in hand.
    fn marks(
        &mut self,
        name: &'static str,
        cx: &mut Cx<'_, CpAction>,
        p: &PacketView,
        q: &QueueView,
    ) -> Mark {
        let views = (Packet::new(cx.now, p), Queue::new(cx.now, q));
        self.call(name, cx, views, |answer| mark_of(answer, name, p)).unwrap_or_default()
    }
}

/// What a method says of the packet: to mark it CE, or not.
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

fn timer_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Time>> {
    Ok(whole(&object.getattr(intern!(object.py(), "timer_ps"))?, "timer_ps")?.map(Time))
}

/// CNPs that `send_cnp` has put down.
fn send(object: &Bound<'_, PyAny>, cx: &mut Cx<'_, CpAction>) -> PyResult<()> {
    let cnps = object.getattr(intern!(object.py(), "_cnps"))?.cast_into::<PyList>()?;
    if cnps.is_empty() {
        return Ok(());
    }
    for cnp in &cnps {
        let (flow, rate, window, degree) = cnp.extract::<(u32, Option<u64>, Option<u64>, f32)>()?;
        cx.push(CpAction::ToSource(Notice {
            window: window.map(Bytes),
            rate: rate.map(Rate),
            degree,
            ..Notice::of(FlowId(flow), Mark::Ce)
        }));
    }
    cnps.call_method0(intern!(object.py(), "clear")).map(drop)
}

impl CongestionPoint for Cp {
    fn demands(&self) -> Demands {
        Demands { claims: if self.admits { &[Claim::Admit] } else { &[] }, ..Demands::default() }
    }

    fn admit(&mut self, now: Time, _rng: &mut Rng, p: &PacketView, q: &QueueView) -> Option<DropReason> {
        if !self.admits {
            return None;
        }
        let taken = self.object.call("admit", now, |object| {
            let views = (Packet::new(now, p), Queue::new(now, q));
            let answer = object.call_method1(intern!(object.py(), "admit"), views)?;
            answer.extract::<bool>().map_err(|_| {
                let given = answer.repr().map(|repr| repr.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!(
                    "admit returned {given}; allowed: True takes the packet, False drops it"
                ))
            })
        });
        (taken == Some(false)).then_some(DropReason::Selective)
    }

    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if self.hears.enqueue { self.marks("on_enqueue", cx, p, q) } else { Mark::None }
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if self.hears.dequeue { self.marks("on_dequeue", cx, p, q) } else { Mark::None }
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        let now = cx.now;
        match event {
            PortEvent::Paused(q) if self.hears.paused => {
                self.call("on_paused", cx, (Queue::new(now, q),), |_| Ok(()));
            }
            PortEvent::Resumed(q) if self.hears.resumed => {
                self.call("on_resumed", cx, (Queue::new(now, q),), |_| Ok(()));
            }
            PortEvent::Removed(p) if self.hears.removed => {
                self.call("on_removed", cx, (Packet::new(now, p),), |_| Ok(()));
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
        self.call("on_timer", cx, (now.0,), |_| Ok(()));
    }
}
