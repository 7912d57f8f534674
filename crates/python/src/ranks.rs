//! The processes that execute one run together, where MPI has started several.

#[cfg(feature = "mpi")]
mod mpi;

use floodway_fabric::Transport;
use pyo3::prelude::*;

use crate::errors;
use crate::guard::guarded;

/// A process among those that MPI has started: this one.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Ranks {
    transport: Box<dyn Transport>,
    #[cfg(feature = "mpi")]
    connected: mpi::Connected,
}

#[pymethods]
impl Ranks {
    /// Whether this module was built with MPI.
    #[staticmethod]
    fn is_built() -> bool {
        cfg!(feature = "mpi")
    }

    /// Connects to the other processes.
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        Self::connect().map_err(|why| errors::refused(py, &why))
    }

    /// The number of this process, from 0.
    #[getter]
    fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many processes there are.
    #[getter]
    fn count(&self) -> usize {
        self.transport.ranks()
    }

    /// The texts of all processes, in their order, of which this one has `text`; all call it alike.
    fn agree(&self, py: Python<'_>, text: Option<String>) -> PyResult<Vec<Option<String>>> {
        let own = text.as_ref().map_or_else(Vec::new, |text| [b"+", text.as_bytes()].concat());
        let ranks = self.transport.ranks();
        let work = || {
            let mut incoming = vec![Vec::new(); ranks];
            self.transport.exchange(&vec![own; ranks], &mut incoming).unwrap_or_else(|lost| lost.end());
            incoming
        };
        let received = py.detach(|| guarded(work)).map_err(|why| errors::stopped(py, &why))?;
        let read =
            |bytes: Vec<u8>| bytes.split_first().map(|(_, text)| String::from_utf8_lossy(text).into_owned());
        let mut texts: Vec<Option<String>> = received.into_iter().map(read).collect();
        texts[self.transport.rank()] = text;
        Ok(texts)
    }

    /// Disconnects, when all processes are done.
    #[cfg_attr(not(feature = "mpi"), expect(clippy::unused_self, reason = "nothing is connected"))]
    fn finish(&self, py: Python<'_>) {
        #[cfg(feature = "mpi")]
        py.detach(|| self.connected.finish());
        let _ = py;
    }

    /// Ends all processes at once, this one with `code`.
    #[cfg_attr(not(feature = "mpi"), expect(clippy::unused_self, reason = "nothing is connected"))]
    fn abort(&self, code: i32) {
        #[cfg(feature = "mpi")]
        self.connected.abort(code);
        std::process::exit(code);
    }
}

impl Ranks {
    #[cfg(feature = "mpi")]
    fn connect() -> Result<Self, String> {
        let connected = mpi::Connected::new()?;
        Ok(Ranks { transport: Box::new(connected.transport()), connected })
    }

    #[cfg(not(feature = "mpi"))]
    fn connect() -> Result<Self, String> {
        Err(String::from("this floodway is built without MPI: `make mpi` builds one with it"))
    }

    /// How they exchange bytes.
    pub fn transport(&self) -> &dyn Transport {
        &*self.transport
    }
}
