//! Rate controls in Python.

use floodway_mechanisms::registry::{CustomReaction, ReactionParams};
use floodway_mechanisms::slots::{
    self, AckView, Allowance, LossView, Need, ParamError, QpInfo, Reaction, ReactionPoint,
};
use floodway_units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::class::{Chosen, Described, Object, entry, whole};
use super::views::{Ack, Cnp, Flow, Loss, Sent};

/// The minimum time between two CNPs to a class that reacts to them. Source: DCQCN's N.
const CNP_INTERVAL: Span = Span::us(50);

/// Registers a class as a rate control of scenarios; `head` is its page.
#[pyfunction]
pub fn register_rate_control(
    name: &str,
    head: String,
    class_: &Bound<'_, PyAny>,
    described: Described,
) -> PyResult<()> {
    let boxed = |chosen| Box::new(chosen) as Box<dyn CustomReaction>;
    let (page, read) = entry(format!("rate-control.{name}"), head, class_, described, boxed)?;
    ReactionParams::register_as(name, true, page, read)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

impl Reaction for Chosen {
    type Rp = Rp;

    fn build(&self, qp: &QpInfo) -> Result<Rp, ParamError> {
        let mut allowance = Allowance::FREE;
        let mut timer = None;
        let object = Object::start(
            self,
            |work| work.flow_name(qp),
            |object| {
                object.call_method1(intern!(object.py(), "start"), (Flow::new(qp),))?;
                (allowance, timer) =
                    (allowance_of(object)?, Object::timer_after("start", object, Time::ZERO)?);
                Ok(())
            },
        );
        Ok(Rp {
            object,
            allowance,
            timer,
            observes_acks: self.class.overrides("on_ack"),
            observes_sent: self.class.overrides("on_sent"),
            observes_cnps: self.class.overrides("on_cnp"),
            observes_losses: self.class.overrides("on_loss"),
        })
    }

    fn needs(&self) -> &'static [Need] {
        self.class.needs
    }

    fn cnp_interval(&self) -> Option<Span> {
        self.class.overrides("on_cnp").then_some(CNP_INTERVAL)
    }

    fn reacts_to_cnp(&self) -> bool {
        self.class.overrides("on_cnp")
    }
}

/// An object of the class: one per sending queue pair.
pub struct Rp {
    object: Object,
    allowance: Allowance,
    timer: Option<Time>,
    observes_acks: bool,
    observes_sent: bool,
    observes_cnps: bool,
    observes_losses: bool,
}

impl Rp {
    /// Calls a method with its arguments.
    fn call(&mut self, name: &'static str, now: Time, view: impl for<'py> IntoPyObject<'py>) {
        let read = self.object.call(name, now, |object| {
            object.call_method1(PyString::intern(object.py(), name), (view,))?;
            Ok((allowance_of(object)?, Object::timer_after(name, object, now)?))
        });
        if let Some(read) = read {
            (self.allowance, self.timer) = read;
        }
    }
}

/// The current allowance of the object.
fn allowance_of(object: &Bound<'_, PyAny>) -> PyResult<Allowance> {
    let py = object.py();
    let rate = whole(&object.getattr(intern!(py, "rate_bps"))?, "rate_bps")?;
    let window = whole(&object.getattr(intern!(py, "window_bytes"))?, "window_bytes")?;
    if rate == Some(0) {
        return Err(PyValueError::new_err("rate_bps = 0 never sends; None is no limit"));
    }
    if window == Some(0) {
        return Err(PyValueError::new_err("window_bytes = 0 never sends; None is no limit"));
    }
    Ok(Allowance { rate: rate.map_or(Rate::MAX, Rate), window: window.map_or(Bytes::MAX, Bytes) })
}

impl ReactionPoint for Rp {
    fn on_sent(&mut self, now: Time, wire: Bytes) {
        if self.observes_sent {
            self.call("on_sent", now, Sent::new(now, wire));
        }
    }

    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        if self.observes_acks {
            self.call("on_ack", now, Ack::new(now, ack));
        }
    }

    fn on_cnp(&mut self, now: Time, cnp: &slots::Cnp) {
        if self.observes_cnps {
            self.call("on_cnp", now, Cnp::new(now, cnp));
        }
    }

    fn on_loss(&mut self, now: Time, loss: &LossView) {
        if self.observes_losses {
            self.call("on_loss", now, Loss::new(now, loss));
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.timer
    }

    fn on_timeout(&mut self, now: Time) {
        // It has expired; the object sets it again if it needs another one.
        self.timer = None;
        self.object.clear_timer(now);
        self.call("on_timer", now, now.0);
    }

    fn observes_sent(&self) -> bool {
        self.observes_sent
    }

    fn observes_acks(&self) -> bool {
        self.observes_acks
    }

    fn allowance(&self) -> Allowance {
        self.allowance
    }
}
