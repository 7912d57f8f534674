//! Congestion points in Python.

use std::sync::Arc;

use floodway_mechanisms::registry::{CongestionPointParams, CustomDetection};
use floodway_mechanisms::slots::{
    Claim, CongestionPoint, CpAction, Cx, Demands, Detection, DropReason, Mark, Need, Notice, PacketView,
    ParamError, PortEvent, PortInfo, QueueView, Tells,
};
use floodway_units::{Bytes, FlowId, Rate, Rng, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::class::{Chosen, Class, Described, Object, whole};
use super::views::{Packet, Port, Queue};

/// Makes a class a congestion point of scenarios; `head` is its page.
#[pyfunction]
pub fn register_congestion_point(
    name: &str,
    head: String,
    class_: &Bound<'_, PyAny>,
    described: Described,
) -> PyResult<()> {
    let class = Arc::new(Class::new(class_, described)?);
    let page = class.page(head, format!("congestion-point.{name}"));
    let read = move |values| {
        let chosen = Chosen::new(&class, class.read(values)?);
        Ok(Box::new(chosen) as Box<dyn CustomDetection>)
    };
    CongestionPointParams::register_as(name, true, page, Box::new(read))
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
    /// Calls a method; the mark that it answers with, if it does. The CNPs that it wants to have sent are sent.
    fn call(
        &mut self,
        name: &'static str,
        cx: &mut Cx<'_, CpAction>,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Mark>,
    ) -> Mark {
        let now = cx.now;
        let called = self.object.call(name, now, |object| {
            let mark = call(object)?;
            send(object, cx)?;
            Ok((mark, timer_of(object)?))
        });
        let Some((mark, timer)) = called else { return Mark::None };
        self.timer = timer.map(|timer| timer.max(now));
        mark
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
        if !self.hears.enqueue {
            return Mark::None;
        }
        let now = cx.now;
        self.call("on_enqueue", cx, |object| {
            let views = (Packet::new(now, p), Queue::new(now, q));
            mark_of(&object.call_method1(intern!(object.py(), "on_enqueue"), views)?, "on_enqueue", p)
        })
    }

    fn on_dequeue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if !self.hears.dequeue {
            return Mark::None;
        }
        let now = cx.now;
        self.call("on_dequeue", cx, |object| {
            let views = (Packet::new(now, p), Queue::new(now, q));
            mark_of(&object.call_method1(intern!(object.py(), "on_dequeue"), views)?, "on_dequeue", p)
        })
    }

    fn on_event(&mut self, cx: &mut Cx<'_, CpAction>, event: PortEvent<'_>) {
        let now = cx.now;
        match event {
            PortEvent::Paused(q) if self.hears.paused => {
                self.call("on_paused", cx, |object| {
                    object.call_method1(intern!(object.py(), "on_paused"), (Queue::new(now, q),))?;
                    Ok(Mark::None)
                });
            }
            PortEvent::Resumed(q) if self.hears.resumed => {
                self.call("on_resumed", cx, |object| {
                    object.call_method1(intern!(object.py(), "on_resumed"), (Queue::new(now, q),))?;
                    Ok(Mark::None)
                });
            }
            PortEvent::Removed(p) if self.hears.removed => {
                self.call("on_removed", cx, |object| {
                    object.call_method1(intern!(object.py(), "on_removed"), (Packet::new(now, p),))?;
                    Ok(Mark::None)
                });
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
        self.call("on_timer", cx, |object| {
            let py = object.py();
            object.setattr(intern!(py, "timer_ps"), py.None())?;
            object.call_method1(intern!(py, "on_timer"), (now.0,))?;
            Ok(Mark::None)
        });
    }
}
