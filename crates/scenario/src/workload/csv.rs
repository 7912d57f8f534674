//! Lists of flows in text: with floodway's columns, or with those of SWING's authors, unchanged.

use floodway_units::text::counted;
use floodway_units::{Bytes, Class, Span, Time};

use crate::error::nearest;
use crate::shown::glimpse;

/// A flow of a list, as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowRow {
    /// Name of the sender.
    pub source: String,
    /// Name of the receiver.
    pub destination: String,
    /// Payload; none for a flow without end.
    pub size: Option<Bytes>,
    /// Its id, which other flows of the list use.
    pub id: Option<String>,
    /// Ids of the flows that must be complete before it starts.
    pub after: Vec<String>,
    /// Time from the end of the last of these flows to its start.
    pub wait: Span,
    /// Start time; the earliest one, if it waits for others.
    pub start: Time,
    /// Its class, where it differs from the workload's.
    pub class: Option<Class>,
    /// Source port, as switches hash it.
    pub source_port: Option<u16>,
    /// Destination port, as switches hash it.
    pub destination_port: Option<u16>,
    /// Nodes of its path.
    pub path: Option<String>,
    /// Nodes of its ACKs' path.
    pub ack_path: Option<String>,
}

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Source,
    Destination,
    /// Payload; this unit is added to a bare number.
    Size(&'static str),
    /// Start; the unit as in `Size`.
    Start(&'static str),
    Class,
    SourcePort,
    DestinationPort,
    Path,
    AckPath,
    Id,
    After,
    Wait,
    /// A known column that is not used.
    Ignored,
}

/// Floodway's columns. `start_us` or `start_ns`, `size_bytes`, `wait_us`: bare numbers; `after`: ids
/// separated by blanks; the others by name.
const OURS: &[(&str, Column)] = &[
    ("source", Column::Source),
    ("destination", Column::Destination),
    ("size_bytes", Column::Size("B")),
    ("start_us", Column::Start("us")),
    ("start_ns", Column::Start("ns")),
    ("class", Column::Class),
    ("source_port", Column::SourcePort),
    ("destination_port", Column::DestinationPort),
    ("path", Column::Path),
    ("ack_path", Column::AckPath),
    ("id", Column::Id),
    ("after", Column::After),
    ("wait_us", Column::Wait),
];

/// The columns of SWING's authors; their priority is the index of a queue, not a class.
const SWING: &[(&str, Column)] = &[
    ("StartTime", Column::Start("")),
    ("FromNode", Column::Source),
    ("ToNode", Column::Destination),
    ("SourcePort", Column::SourcePort),
    ("DestinationPort", Column::DestinationPort),
    ("Size", Column::Size("")),
    ("Priority", Column::Ignored),
];

/// A fault of a list: its line and the text of the fault.
pub type RowError = (u32, String);

/// The flows of a list with their lines.
///
/// # Errors
/// The first line that does not fit.
pub fn parse(text: &str) -> Result<Vec<(u32, FlowRow)>, RowError> {
    let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((number, header)) = lines.next() else { return Err((1, "it has no header line".into())) };
    let columns = columns(header).map_err(|why| (number, why))?;
    let read = |(number, line)| match row(&columns, line) {
        Ok(row) => Ok((number, row)),
        Err(why) => Err((number, why)),
    };
    lines.map(read).collect()
}

fn columns(header: &str) -> Result<Vec<Column>, String> {
    let names = fields(header)?;
    if !names.iter().any(|name| is_like_column(name)) {
        let known: Vec<&str> = OURS.iter().map(|(name, _)| *name).collect();
        let (shown, known) = (glimpse(header), known.join(", "));
        return Err(format!("it begins with {shown}, which is not a column; a list of flows has {known}"));
    }
    let swings = |name: &String| SWING.iter().any(|(known, _)| known == name);
    let table = if names.iter().any(swings) { SWING } else { OURS };
    let known: Vec<String> = table.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut columns = Vec::new();
    for name in &names {
        let Some(&(_, column)) = table.iter().find(|(known, _)| known == name) else {
            let hint =
                nearest(name, &known).map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
            return Err(format!("{name:?} is not a column; allowed: {}{hint}", known.join(", ")));
        };
        if columns.iter().any(|other| same(*other, column)) {
            return Err(format!("the column {name:?} repeats another one"));
        }
        columns.push(column);
    }
    for (due, column) in [
        ("source", Column::Source),
        ("destination", Column::Destination),
        ("size", Column::Size("")),
        ("start", Column::Start("")),
    ] {
        if !columns.iter().any(|other| same(*other, column)) {
            return Err(format!("no column has the {due}; allowed: {}", known.join(", ")));
        }
    }
    Ok(columns)
}

/// Whether a file that has this name in its first line looks like a list of flows. For other files, errors
/// show only the beginning.
fn is_like_column(name: &str) -> bool {
    let known: Vec<String> = OURS.iter().chain(SWING).map(|(name, _)| (*name).to_owned()).collect();
    known.iter().any(|known| known == name) || nearest(name, &known).is_some()
}

fn same(one: Column, other: Column) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

fn row(columns: &[Column], line: &str) -> Result<FlowRow, String> {
    let fields = fields(line)?;
    if fields.len() != columns.len() {
        return Err(format!("{} for {}", counted(fields.len(), "value"), counted(columns.len(), "column")));
    }
    let mut row = FlowRow::default();
    for (column, field) in columns.iter().zip(fields) {
        let filled = || (!field.is_empty()).then(|| field.clone());
        match column {
            Column::Source => row.source = field,
            Column::Destination => row.destination = field,
            Column::Size(unit) => row.size = Some(quantity::<Bytes>(&field, unit)?),
            Column::Start(unit) => row.start = Time(quantity::<Span>(&field, unit)?.0),
            Column::Class => row.class = number(&field)?.map(Class),
            Column::SourcePort => row.source_port = number(&field)?,
            Column::DestinationPort => row.destination_port = number(&field)?,
            Column::Path => row.path = filled(),
            Column::AckPath => row.ack_path = filled(),
            Column::Id => row.id = filled().map(id).transpose()?,
            Column::After => row.after = field.split_whitespace().map(str::to_owned).collect(),
            Column::Wait => row.wait = if field.is_empty() { Span::ZERO } else { quantity(&field, "us")? },
            Column::Ignored => {}
        }
    }
    Ok(row)
}

/// The id that other flows name in `after`, where blanks separate ids.
fn id(field: String) -> Result<String, String> {
    if field.contains(char::is_whitespace) {
        return Err(format!(
            "the id {field:?} has a blank: write one word, because blanks separate the ids of \"after\""
        ));
    }
    Ok(field)
}

/// A quantity; `unit` is added to a bare number.
fn quantity<T: std::str::FromStr<Err: std::fmt::Display>>(field: &str, unit: &str) -> Result<T, String> {
    let bare = !field.ends_with(char::is_alphabetic);
    let text = if bare { format!("{field}{unit}") } else { field.to_owned() };
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A whole number; none for an empty field.
fn number<T: std::str::FromStr>(field: &str) -> Result<Option<T>, String> {
    match field {
        "" => Ok(None),
        field => field.parse().map(Some).map_err(|_| format!("{field:?} is not a whole number in range")),
    }
}

/// The values of a line; a value in double quotes may contain commas, and quotes written twice.
fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let last = fields.len() - 1;
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields[last].push(c),
        }
    }
    if quoted {
        return Err("a quotation mark is not closed".into());
    }
    Ok(fields.into_iter().map(|field| field.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swings_columns_are_read_as_they_are() {
        let text = "StartTime,FromNode,ToNode,SourcePort,DestinationPort,Size,Priority\n\
                    1000225577ns,h16,h23,2,1,3332655B,0\n";
        let rows = parse(text).expect("it is a list");
        let (line, row) = &rows[0];
        assert_eq!((*line, row.source.as_str(), row.destination.as_str()), (2, "h16", "h23"));
        assert_eq!((row.start, row.size), (Time(1_000_225_577_000), Some(Bytes(3_332_655))));
        assert_eq!((row.source_port, row.destination_port, row.class), (Some(2), Some(1), None));
    }

    #[test]
    fn our_columns_may_pin_paths() {
        let text =
            "source,destination,size_bytes,start_us,class,path\nh1,h2,1000,1.5,4,\"h1,s1,h2\"\nh2,h1,1,0,,\n";
        let rows = parse(text).expect("it is a list");
        assert_eq!(rows[0].1.path.as_deref(), Some("h1,s1,h2"));
        assert_eq!((rows[0].1.start, rows[0].1.class), (Time(1_500_000), Some(Class(4))));
        assert_eq!((rows[1].1.path.as_deref(), rows[1].1.class), (None, None));
    }

    #[test]
    fn numbers_are_read_as_other_programs_write_them() {
        let text =
            "source,destination,size_bytes,start_us\nh1,h2,1e6,1.5e+01\nh1,h2,2000.0,0.0\nh1,h2,3KB,2ms\n";
        let rows = parse(text).expect("it is a list");
        let read = rows.iter().map(|(_, row)| (row.size.map(|size| size.0), row.start.0));
        let expected = [(1_000_000, 15_000_000), (2000, 0), (3000, 2_000_000_000)];
        assert!(read.eq(expected.map(|(size, start)| (Some(size), start))));
        let error = parse("source,destination,size_bytes,start_us\nh1,h2,1e-1,0\n").unwrap_err();
        assert!(error.1.contains("it is not a whole number of B"), "{}", error.1);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_line() {
        let error = |text: &str| parse(text).unwrap_err();
        assert_eq!(error("").0, 1);
        let (line, why) = error("# c\nroot:$6$secret:19000:0:99999:7:::\n");
        assert_eq!(line, 2);
        assert!(why.starts_with("it begins with \"root:$6$\"..., which is not a column; "), "{why}");
        assert!(!why.contains("secret"), "{why}");
        let (line, why) = error("# c\nsource,destination,size,start_us\n");
        assert_eq!(line, 2);
        assert!(why.starts_with("\"size\" is not a column; allowed: source, "), "{why}");
        assert!(error("source,destination,size_bytes\n").1.contains("no column has the start"));
        assert!(error("source,destination,size_bytes,start_us,start_ns").1.contains("repeats another"));
        assert!(error("StartTime,source\n").1.contains("\"source\" is not a column"));
        let head = "source,destination,size_bytes,start_us";
        assert_eq!(error(&format!("{head}\nh1,h2,5,1\nh1,h2,5\n")), (3, "3 values for 4 columns".into()));
        assert!(error(&format!("{head}\nh1,h2,-5,1")).1.contains("negative"));
        assert!(error(&format!("{head}\nh1,\"h2,5,1")).1.contains("not closed"));
        let (line, why) = error(&format!("{head},id,after\nh1,h2,5,1,a,\nh1,h2,5,1,b c,a"));
        assert_eq!(line, 3);
        assert!(why.starts_with("the id \"b c\" has a blank: write one word"), "{why}");
    }
}
