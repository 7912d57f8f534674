//! Columns of a run's tables, as what they are known to be.

use floodway_fabric::{Table, Values};

pub fn texts<'a>(table: &'a Table, column: &str) -> Vec<&'a str> {
    match table.column(column) {
        Some(Values::Text { codes, dictionary }) => {
            // A word that is not there is empty.
            codes.iter().map(|code| dictionary.get(*code as usize).map_or("", String::as_str)).collect()
        }
        other => panic!("{column} is {other:?}"),
    }
}

pub fn wholes<'a>(table: &'a Table, column: &str) -> &'a [u64] {
    match table.column(column) {
        Some(Values::U64(values)) => values,
        other => panic!("{column} is {other:?}"),
    }
}

pub fn reals<'a>(table: &'a Table, column: &str) -> &'a [f64] {
    match table.column(column) {
        Some(Values::F64(values)) => values,
        other => panic!("{column} is {other:?}"),
    }
}

pub fn flags<'a>(table: &'a Table, column: &str) -> &'a [u8] {
    match table.column(column) {
        Some(Values::Bool(values)) => values,
        other => panic!("{column} is {other:?}"),
    }
}
