//! A users' class as a mechanism: its parameters, the methods that it overrides, and the creation and calls
//! of its objects.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use floodway_mechanisms::registry::custom::{Fault as ReadFault, Page, Read};
use floodway_mechanisms::slots::{Need, SignalKind};
use floodway_units::cast;
use floodway_units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::calls::{Fault, Work};

/// Whether any class was registered: names for messages are created only where they may be needed.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether a program has registered any class.
pub fn are_any() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// The type of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Float,
    Bool,
    Text,
    Duration,
    Size,
    Rate,
}

impl Kind {
    /// The type by its name in Python.
    fn of(name: &str) -> Option<Self> {
        match name {
            "int" => Some(Kind::Int),
            "float" => Some(Kind::Float),
            "bool" => Some(Kind::Bool),
            "str" => Some(Kind::Text),
            "Duration" => Some(Kind::Duration),
            "Size" => Some(Kind::Size),
            "Rate" => Some(Kind::Rate),
            _ => None,
        }
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Kind::Int => value.is_i64() || value.is_u64(),
            Kind::Float => value.is_number(),
            Kind::Bool => value.is_boolean(),
            Kind::Text => value.is_string(),
            Kind::Duration | Kind::Size | Kind::Rate => self.number(value).is_ok(),
        }
    }

    /// A value with a unit, in picoseconds, bytes or bit/s.
    fn number(self, value: &Value) -> Result<u64, String> {
        let value = value.clone();
        let number = match self {
            Kind::Duration => serde_json::from_value(value).map(|Span(ps)| ps),
            Kind::Size => serde_json::from_value(value).map(|Bytes(bytes)| bytes),
            Kind::Rate => serde_json::from_value(value).map(|Rate(bps)| bps),
            Kind::Int | Kind::Float | Kind::Bool | Kind::Text => return Err(String::from("it has no unit")),
        };
        number.map_err(|error| error.to_string())
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Int => "a whole number",
            Kind::Float => "a number",
            Kind::Bool => "true or false",
            Kind::Text => "a text",
            Kind::Duration => "a time, such as \"10us\"",
            Kind::Size => "a size, such as \"100KB\"",
            Kind::Rate => "a rate, such as \"25G\"",
        }
    }

    fn schema(self) -> &'static str {
        match self {
            Kind::Int => "integer",
            Kind::Float => "number",
            Kind::Bool => "boolean",
            Kind::Text | Kind::Duration | Kind::Size | Kind::Rate => "string",
        }
    }
}

/// A parameter of a class.
#[derive(Clone, Debug)]
struct Parameter {
    /// Its name in scenarios.
    key: &'static str,
    /// Its name in the class.
    attribute: String,
    kind: Kind,
    default: Option<Value>,
}

/// A registered class.
pub struct Class {
    /// Its name, for messages.
    name: String,
    object: Py<PyAny>,
    parameters: Vec<Parameter>,
    /// Names of the methods that it overrides.
    overrides: Vec<String>,
    /// The reason why no scenario can choose it, if so.
    fault: Option<String>,
    /// The requirements of its machines.
    pub needs: &'static [Need],
    /// The signals of its machines to senders.
    pub signal_kinds: &'static [SignalKind],
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Class {
    /// A class as Python describes it: parameters as `(key, attribute, type, default in JSON or None)`.
    fn new(object: &Bound<'_, PyAny>, described: Described) -> PyResult<Self> {
        ANY.store(true, Ordering::Relaxed);
        let wrong = |what: String| PyTypeError::new_err(what);
        let parameter = |(key, attribute, kind, default): (String, String, String, Option<String>)| {
            let kind =
                Kind::of(&kind).ok_or_else(|| wrong(format!("{kind} is not a type of a parameter")))?;
            let default = default.map(|json| serde_json::from_str(&json)).transpose();
            let default = default.map_err(|error| wrong(format!("{key}: {error}")))?;
            Ok(Parameter { key: key.leak(), attribute, kind, default })
        };
        let need = |name: &String| match &**name {
            "acks" => Ok(Need::Acks),
            "marks" => Ok(Need::Marks),
            "timestamps" => Ok(Need::Timestamps),
            "int" => Ok(Need::Int),
            other => Err(wrong(format!(
                "{other:?} is not a need of a class; allowed: acks, marks, timestamps, int"
            ))),
        };
        let mut needs = described.needs.iter().map(need).collect::<PyResult<Vec<_>>>()?;
        needs.push(Need::OneOrder);
        let parse = |name: &String| match &**name {
            "marks" => Ok(SignalKind::Marks),
            "cnps" => Ok(SignalKind::Cnps),
            other => Err(wrong(format!("{other:?} is not a signal of a class; allowed: marks, cnps"))),
        };
        let signal_kinds = described.tells.iter().map(parse).collect::<PyResult<Vec<_>>>()?;
        Ok(Class {
            name: object.getattr("__name__")?.extract()?,
            object: object.clone().unbind(),
            parameters: described.parameters.into_iter().map(parameter).collect::<PyResult<_>>()?,
            overrides: described.overrides,
            fault: described.fault,
            needs: needs.leak(),
            signal_kinds: signal_kinds.leak(),
        })
    }

    /// The line of the class, `FILE:LINE`, for an error without a traceback, if it can be found.
    fn line_of(&self, py: Python<'_>, method: &str, error: &PyErr) -> Option<String> {
        let find =
            py.import("floodway.scenarios.mechanisms").and_then(|module| module.getattr("line_of")).ok()?;
        find.call1((&self.object, method, error.value(py).to_string())).ok()?.extract().ok()?
    }

    /// Whether it has its own method of this name.
    pub fn overrides(&self, method: &str) -> bool {
        self.overrides.iter().any(|name| name == method)
    }

    /// Its page for users. `definition` is its parameters' name in the JSON Schema.
    fn page(&self, head: String, definition: String) -> Page {
        let keys = self.parameters.iter().map(|parameter| parameter.key).collect();
        let mut properties = Map::new();
        for parameter in &self.parameters {
            let mut property = json!({ "type": parameter.kind.schema() });
            if let Some(default) = &parameter.default {
                property["default"] = default.clone();
            }
            properties.insert(parameter.key.to_owned(), property);
        }
        let required = self.parameters.iter().filter(|parameter| parameter.default.is_none());
        let required: Vec<_> = required.map(|parameter| parameter.key).collect();
        let schema = json!({
            "type": "object",
            "description": format!("Parameters of `{}`.", self.name),
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        let name = definition.clone();
        Page {
            head,
            definition: definition.into(),
            schema: Box::new(move |generator| {
                generator.definitions_mut().insert(name.clone(), schema.clone());
                schemars::Schema::new_ref(format!("#/$defs/{name}"))
            }),
            keys,
        }
    }

    /// Values from the settings of a scenario, with defaults.
    fn read(&self, values: Value) -> Result<Map<String, Value>, ReadFault> {
        if let Some(fault) = &self.fault {
            return Err(ReadFault::Message(fault.clone()));
        }
        let Value::Object(mut given) = values else {
            return Err(ReadFault::Message("not a table of parameters".to_owned()));
        };
        let mut read = Map::new();
        for parameter in &self.parameters {
            let key = parameter.key;
            let value = given.remove(key).or_else(|| parameter.default.clone());
            let words = parameter.kind.words();
            let value =
                value.ok_or_else(|| ReadFault::Message(format!("{key} is missing: it is {words}")))?;
            if !parameter.kind.fits(&value) {
                return Err(ReadFault::Message(format!("{key}: {value} is not {words}")));
            }
            read.insert(key.to_owned(), value);
        }
        match given.into_iter().next() {
            Some((key, _)) => Err(ReadFault::UnknownKey(key)),
            None => Ok(read),
        }
    }
}

/// The entry of a class as a mechanism of a slot: its page, and the conversion of a scenario's values into
/// its parameters.
pub fn entry<T: ?Sized + 'static>(
    slot_and_name: String,
    head: String,
    class: &Bound<'_, PyAny>,
    described: Described,
    boxed: fn(Chosen) -> Box<T>,
) -> PyResult<(Page, Read<T>)> {
    let class = Arc::new(Class::new(class, described)?);
    let page = class.page(head, slot_and_name);
    let read = move |values| Ok(boxed(Chosen { class: Arc::clone(&class), values: class.read(values)? }));
    Ok((page, Box::new(read)))
}

/// The description of a class from Python.
#[derive(FromPyObject)]
pub struct Described {
    /// Keys, attributes, types, and defaults as JSON.
    #[pyo3(item)]
    pub parameters: Vec<(String, String, String, Option<String>)>,
    /// Methods.
    #[pyo3(item)]
    pub overrides: Vec<String>,
    /// Its requirements.
    #[pyo3(item)]
    pub needs: Vec<String>,
    /// Its signals to senders.
    #[pyo3(item)]
    pub tells: Vec<String>,
    /// The reason why no scenario can choose it, if so.
    #[pyo3(item)]
    pub fault: Option<String>,
}

/// A class with the values that a scenario gives it.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The class.
    pub class: Arc<Class>,
    values: Map<String, Value>,
}

impl Serialize for Chosen {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.serialize(serializer)
    }
}

/// An object of a class, in a run or before one.
pub struct Object {
    class: Arc<Class>,
    work: Option<Arc<Work>>,
    /// The flow or port.
    place: Option<String>,
    /// None once any users' code of the run has failed: nothing is called any more.
    alive: Option<Py<PyAny>>,
}

impl Object {
    /// A new object with the values of `chosen`, on which `start` has been called.
    pub fn start(
        chosen: &Chosen,
        place: impl FnOnce(&Work) -> Option<String>,
        start: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>,
    ) -> Self {
        let work = Work::current();
        let place = work.as_deref().and_then(place);
        let mut made = Object { class: Arc::clone(&chosen.class), work, place, alive: None };
        if made.work.as_ref().is_some_and(|work| work.is_over()) {
            return made;
        }
        Python::attach(|py| {
            let class = chosen.class.object.bind(py);
            let result = made_of(class, chosen).and_then(|object| {
                start(&object)?;
                Ok(object.unbind())
            });
            match result {
                Ok(object) => made.alive = Some(object),
                Err(error) => made.fail(py, "start", None, error),
            }
        });
        made
    }

    /// Calls users' code, unless any has failed already; an exception ends the run.
    pub fn call<T>(
        &mut self,
        name: &'static str,
        now: Time,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        Python::attach(|py| {
            let called = call(self.alive.as_ref()?.bind(py));
            called.map_err(|error| self.fail(py, name, Some(now), error)).ok()
        })
    }

    /// The next timeout of the object, from `timer_ps` after a call at `now`.
    pub fn timer_after(name: &str, object: &Bound<'_, PyAny>, now: Time) -> PyResult<Option<Time>> {
        let timer = whole(&object.getattr(intern!(object.py(), "timer_ps"))?, "timer_ps")?.map(Time);
        match timer {
            // The timer would expire again and again at the same instant.
            Some(at) if name == "on_timer" && at <= now => Err(PyValueError::new_err(format!(
                "timer_ps = {}; allowed in on_timer: later than now, {}, or None",
                at.0, now.0
            ))),
            timer => Ok(timer.map(|at| at.max(now))),
        }
    }

    /// Clears the timer when the time in `timer_ps` is reached.
    pub fn clear_timer(&mut self, now: Time) {
        self.call("on_timer", now, |object| {
            object.setattr(intern!(object.py(), "timer_ps"), object.py().None())
        });
    }

    fn fail(&mut self, py: Python<'_>, method: &str, at: Option<Time>, error: PyErr) {
        self.alive = None;
        let Some(work) = &self.work else { return };
        let call = format!("{}.{method}", self.class.name);
        let line = if error.traceback(py).is_none() { self.class.line_of(py, method, &error) } else { None };
        work.fail(Fault { call, line, place: self.place.clone(), at, error });
    }
}

fn made_of<'py>(class: &Bound<'py, PyAny>, chosen: &Chosen) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    let values = PyDict::new(py);
    for parameter in &chosen.class.parameters {
        let value = &chosen.values[parameter.key];
        let name = PyString::new(py, &parameter.attribute);
        match (parameter.kind, value) {
            (Kind::Float, value) => values.set_item(name, value.as_f64())?,
            (kind @ (Kind::Duration | Kind::Size | Kind::Rate), value) => {
                values.set_item(name, kind.number(value).map_err(PyValueError::new_err)?)?;
            }
            (_, Value::Bool(value)) => values.set_item(name, value)?,
            (_, Value::String(value)) => values.set_item(name, value)?,
            (_, value) => match value.as_u64() {
                Some(value) => values.set_item(name, value)?,
                None => values.set_item(name, value.as_i64())?,
            },
        }
    }
    let object = class.call0()?;
    for (name, value) in values {
        object.setattr(name.cast::<PyString>()?, value)?;
    }
    Ok(object)
}

/// The value of a text with a unit, in picoseconds (`Duration`), bytes (`Size`) or bit/s (`Rate`).
#[pyfunction]
pub fn parse_unit(kind: &str, text: &str) -> PyResult<u64> {
    let kind = Kind::of(kind).ok_or_else(|| PyTypeError::new_err(format!("{kind} has no unit")))?;
    kind.number(&Value::from(text)).map_err(PyValueError::new_err)
}

/// A number of bits, bytes or picoseconds that users' code has set; none for `None`.
pub fn whole(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    // True and False are numbers in Python, but not amounts.
    let is_bool = value.is_instance_of::<PyBool>();
    if let Some(whole) = value.extract::<u64>().ok().filter(|_| !is_bool) {
        return Ok(Some(whole));
    }
    let float =
        value.extract::<f64>().ok().filter(|_| !is_bool).filter(|float| float.is_finite() && *float >= 0.0);
    let float = float.filter(|float| *float < 18_446_744_073_709_551_616.0);
    match float {
        Some(float) => Ok(Some(cast::whole(float))),
        None => Err(PyValueError::new_err(format!(
            "{name} = {}: allowed: a number from 0 to 2^64 - 1, or None",
            value.repr()?
        ))),
    }
}
