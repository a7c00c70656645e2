//! Printing tables in the form the user asked for.

use std::io::{self, Write};

use super::Format;
use crate::report::Table;

/// Prints `tables` to standard output in the asked-for form.
pub(crate) fn emit(tables: &[Table], format: Format) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match format {
        Format::Table => {
            for (index, table) in tables.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                write!(out, "{}", table.to_text())?;
            }
        }
        Format::Csv => {
            for (index, table) in tables.iter().enumerate() {
                if index > 0 {
                    writeln!(out)?;
                }
                table.write_csv(&mut out)?;
            }
        }
        Format::Json => {
            let by_name: serde_json::Map<_, _> =
                tables.iter().map(|table| (table.name.clone(), table.to_json())).collect();
            writeln!(out, "{:#}", serde_json::Value::Object(by_name))?;
        }
    }
    out.flush()
}
