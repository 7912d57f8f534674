//! Rate controls in Python.

use std::sync::Arc;

use floodway_mechanisms::registry::{CustomReaction, ReactionParams};
use floodway_mechanisms::slots::{
    AckView, Allowance, LossView, Need, Notice, ParamError, QpInfo, Reaction, ReactionPoint,
};
use floodway_units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::{Chosen, Class, Described, Object, whole};
use super::views::{Ack, Cnp, Flow, Loss, Sent};

/// CNPs that receivers send to a class which hears them: at the most one in so long. Source: DCQCN's N.
const CNP_INTERVAL: Span = Span::us(50);

/// Makes a class a rate control of scenarios; `head` is its page.
#[pyfunction]
pub fn register_rate_control(
    name: &str,
    head: String,
    class_: &Bound<'_, PyAny>,
    described: Described,
) -> PyResult<()> {
    let class = Arc::new(Class::new(class_, described)?);
    let page = class.page(head, format!("rate-control.{name}"));
    let read = move |values| {
        let chosen = Chosen::new(&class, class.read(values)?);
        Ok(Box::new(chosen) as Box<dyn CustomReaction>)
    };
    ReactionParams::register_as(name, true, page, Box::new(read))
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
                (allowance, timer) = read_of(object)?;
                Ok(())
            },
        );
        Ok(Rp {
            object,
            allowance,
            timer,
            hears_acks: self.class.overrides("on_ack"),
            hears_sent: self.class.overrides("on_sent"),
            hears_cnps: self.class.overrides("on_cnp"),
            hears_losses: self.class.overrides("on_loss"),
        })
    }

    fn needs(&self) -> &'static [Need] {
        self.class.needs
    }

    fn cnp_interval(&self) -> Option<Span> {
        self.class.overrides("on_cnp").then_some(CNP_INTERVAL)
    }

    fn heeds_cnps(&self) -> bool {
        self.class.overrides("on_cnp")
    }
}

/// An object of the class: one per sending queue pair.
pub struct Rp {
    object: Object,
    allowance: Allowance,
    timer: Option<Time>,
    hears_acks: bool,
    hears_sent: bool,
    hears_cnps: bool,
    hears_losses: bool,
}

impl Rp {
    fn call(&mut self, name: &'static str, now: Time, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        let read = self.object.call(name, now, |object| {
            call(object)?;
            read_of(object)
        });
        if let Some((allowance, timer)) = read {
            self.allowance = allowance;
            self.timer = timer.map(|timer| timer.max(now));
        }
    }
}

/// What the object allows now, and when it wants to be called.
fn read_of(object: &Bound<'_, PyAny>) -> PyResult<(Allowance, Option<Time>)> {
    let py = object.py();
    let rate = whole(&object.getattr(intern!(py, "rate_bps"))?, "rate_bps")?;
    let window = whole(&object.getattr(intern!(py, "window_bytes"))?, "window_bytes")?;
    let timer = whole(&object.getattr(intern!(py, "timer_ps"))?, "timer_ps")?;
    if rate == Some(0) {
        return Err(PyValueError::new_err("rate_bps = 0 never sends; None is no limit"));
    }
    if window == Some(0) {
        return Err(PyValueError::new_err("window_bytes = 0 never sends; None is no limit"));
    }
    let allowance =
        Allowance { rate: rate.map_or(Rate::MAX, Rate), window: window.map_or(Bytes::MAX, Bytes) };
    Ok((allowance, timer.map(Time)))
}

impl ReactionPoint for Rp {
    fn on_sent(&mut self, now: Time, wire: Bytes) {
        if self.hears_sent {
            self.call("on_sent", now, |object| {
                object.call_method1(intern!(object.py(), "on_sent"), (Sent::new(now, wire),)).map(drop)
            });
        }
    }

    fn on_ack(&mut self, now: Time, ack: &AckView<'_>) {
        if self.hears_acks {
            self.call("on_ack", now, |object| {
                object.call_method1(intern!(object.py(), "on_ack"), (Ack::new(now, ack),)).map(drop)
            });
        }
    }

    fn on_notice(&mut self, now: Time, notice: &Notice) {
        if self.hears_cnps {
            self.call("on_cnp", now, |object| {
                object.call_method1(intern!(object.py(), "on_cnp"), (Cnp::new(now, notice),)).map(drop)
            });
        }
    }

    fn on_loss(&mut self, now: Time, loss: &LossView) {
        if self.hears_losses {
            self.call("on_loss", now, |object| {
                object.call_method1(intern!(object.py(), "on_loss"), (Loss::new(now, loss),)).map(drop)
            });
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        self.timer
    }

    fn on_timeout(&mut self, now: Time) {
        // It is over; the object sets it anew where it wants another.
        self.timer = None;
        self.call("on_timer", now, |object| {
            let py = object.py();
            object.setattr(intern!(py, "timer_ps"), py.None())?;
            object.call_method1(intern!(py, "on_timer"), (now.0,)).map(drop)
        });
    }

    fn hears_sent(&self) -> bool {
        self.hears_sent
    }

    fn hears_acks(&self) -> bool {
        self.hears_acks
    }

    fn allowance(&self) -> Allowance {
        self.allowance
    }
}
