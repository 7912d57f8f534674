//! Calls of users' code: handling of its exceptions, and the call that raised them.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use floodway_fabric::allocator::keep_reserve;
use floodway_fabric::{Blueprint, Control};
use floodway_mechanisms::slots::QpInfo;
use floodway_units::cast::narrow;
use floodway_units::{PortId, Time};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors;
use crate::guard::guarded;

/// A run: its control, and the source of its names.
pub type Run<'a> = (&'a Arc<Control>, &'a Blueprint);

/// A task during which users' code may be called, on the thread that executes it.
#[derive(Default)]
pub struct Work {
    control: Option<Arc<Control>>,
    workloads: Vec<String>,
    nodes: Vec<String>,
    ports: Vec<String>,
    fault: Mutex<Option<Fault>>,
}

/// The first exception that users' code has raised.
pub struct Fault {
    /// The method that was called, such as `MyControl.on_ack`.
    pub call: String,
    /// The line of the error, where it has no traceback.
    pub line: Option<String>,
    /// The flow or port, if it is known.
    pub place: Option<String>,
    /// The simulated time; none before the run.
    pub at: Option<Time>,
    /// The exception.
    pub error: PyErr,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Work>>> = const { RefCell::new(None) };
}

/// Executes `work` of a run, or before one, without the interpreter's lock; afterwards raises the first
/// exception of users' code in it.
pub fn watched<T: Send>(
    py: Python<'_>,
    run: Option<Run<'_>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    keep_reserve();
    let current = Arc::new(run.map_or_else(Work::default, Work::of_run));
    let inside = Arc::clone(&current);
    let done = py.detach(|| {
        guarded(|| {
            let _put_back = PutBack(CURRENT.replace(Some(inside)));
            work()
        })
    });
    let fault = current.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (fault, done) {
        (Some(fault), _) if fault.error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Err(errors::interrupted(py, fault))
        }
        (Some(fault), _) => Err(errors::of_mechanism(py, fault)),
        (None, Ok(done)) => Ok(done),
        (None, Err(why)) => Err(errors::stopped(py, &why)),
    }
}

/// Restores the thread's previous task, also on unwinding.
struct PutBack(Option<Arc<Work>>);

impl Drop for PutBack {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

impl Work {
    fn of_run((control, blueprint): Run<'_>) -> Self {
        let mut work = Work { control: Some(Arc::clone(control)), ..Work::default() };
        if super::class::are_any() {
            work.workloads = blueprint.workloads.iter().map(|workload| workload.name.clone()).collect();
            work.nodes = blueprint.nodes.iter().map(|node| node.name.clone()).collect();
            let ports = (0..2 * narrow::<u32>(blueprint.links.len())).map(PortId);
            work.ports = ports.map(|port| blueprint.port_name(port)).collect();
        }
        work
    }

    /// The task of this thread.
    pub fn current() -> Option<Arc<Work>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Whether users' code has failed, so that nothing is called any more.
    pub fn is_over(&self) -> bool {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Keeps the first fault, and ends the run.
    pub fn fail(&self, fault: Fault) {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        self.stop();
    }

    /// Ends the run.
    pub fn stop(&self) {
        if let Some(control) = &self.control {
            control.stop.store(true, Ordering::Relaxed);
        }
    }

    /// The flow of a queue pair by its name in results: workload, source and number.
    pub fn flow_name(&self, qp: &QpInfo) -> Option<String> {
        let workload = self.workloads.get(qp.workload as usize)?;
        Some(format!("{workload}:{}:{}", self.nodes.get(qp.source.index())?, qp.number))
    }

    /// The name of a port.
    pub fn port_name(&self, port: PortId) -> Option<&str> {
        self.ports.get(port.index()).map(String::as_str)
    }
}
