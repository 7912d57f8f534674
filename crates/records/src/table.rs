//! Columns of results, in the form in which they are written or shown.

/// The code of a string that is not there.
pub const NONE: u32 = u32::MAX;

/// A table: columns of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

/// A named column; the unit is the name's suffix.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, as files show it.
    pub name: String,
    /// Values.
    pub values: Values,
}

/// A column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    U64(Vec<u64>),
    /// Real numbers; NaN is "none".
    F64(Vec<f64>),
    /// Truth values, 0 or 1.
    Bool(Vec<u8>),
    /// Strings, as codes into a dictionary; [`NONE`] is "none".
    Text {
        /// One a row.
        codes: Vec<u32>,
        /// What the codes mean.
        dictionary: Vec<String>,
    },
}

impl Table {
    /// A table of these columns.
    pub fn new(columns: Vec<(&str, Values)>) -> Self {
        let columns = columns.into_iter().map(|(name, values)| Column { name: name.to_owned(), values });
        Table { columns: columns.collect() }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// The column `name`.
    pub fn column(&self, name: &str) -> Option<&Values> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::U64(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text { codes, .. } => codes.len(),
        }
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
