//! A table of results: one value, four forms (text, Markdown, CSV, JSON).

use std::io;

use serde::Serialize;

/// One entry of a [`Table`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number, never rounded.
    Count(u64),
    /// A measured number: rounded for reading, whole in CSV and JSON.
    Number(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Cell {
        Cell::Number(value)
    }
}

impl Cell {
    fn rounded(&self) -> String {
        match self {
            Cell::Number(value) => number(*value),
            Cell::Count(count) => count.to_string(),
            Cell::Text(text) => text.clone(),
        }
    }

    fn read(text: &str) -> Cell {
        match (text.parse(), text.parse()) {
            (Ok(count), _) => Cell::Count(count),
            (_, Ok(value)) => Cell::Number(value),
            _ => Cell::Text(text.to_owned()),
        }
    }

    fn exact(&self) -> String {
        match self {
            Cell::Number(value) => value.to_string(),
            other => other.rounded(),
        }
    }
}

/// Named columns and rows of cells.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name of its file and of its key in JSON.
    pub name: String,
    /// What the reader sees above it.
    pub title: String,
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new<C: AsRef<str>>(name: &str, title: &str, columns: &[C]) -> Table {
        let columns = columns.iter().map(|column| column.as_ref().to_owned()).collect();
        Table { name: name.to_owned(), title: title.to_owned(), columns, rows: Vec::new() }
    }

    /// Adds a row, one cell per column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "a cell per column of {}", self.name);
        self.rows.push(cells);
    }

    /// Aligned columns for a terminal.
    pub fn to_text(&self) -> String {
        let mut lines: Vec<Vec<String>> = vec![self.columns.clone()];
        lines.extend(self.rows.iter().map(|row| row.iter().map(Cell::rounded).collect()));
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = format!("{}\n", self.title);
        for line in &lines {
            let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        text
    }

    /// A Markdown section.
    pub fn to_markdown(&self) -> String {
        format!("## {}\n\n{}", self.title, self.to_markdown_rows())
    }

    /// Header and rows in Markdown.
    pub fn to_markdown_rows(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.clone());
        text.push_str(&line(vec!["---".to_owned(); self.columns.len()]));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|cell| cell.rounded().replace('|', "\\|")).collect()));
        }
        text
    }

    /// A header and a record per row.
    pub fn write_csv(&self, out: impl io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(&self.columns)?;
        for row in &self.rows {
            writer.write_record(row.iter().map(Cell::exact))?;
        }
        writer.flush()
    }

    /// Reads what [`Table::write_csv`] wrote; name and title are not in it.
    pub fn read_csv(source: impl io::Read) -> io::Result<Table> {
        let mut reader = csv::Reader::from_reader(source);
        let columns: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        let mut table = Table::new("", "", &columns);
        for record in reader.records() {
            table.rows.push(record?.iter().map(Cell::read).collect());
        }
        Ok(table)
    }

    /// An array with an object per row (a number that is not finite becomes null).
    pub fn to_json(&self) -> serde_json::Value {
        let object = |row: &Vec<Cell>| -> serde_json::Value {
            let entry = |(column, cell): (&String, &Cell)| (column.clone(), serde_json::json!(cell));
            serde_json::Value::Object(self.columns.iter().zip(row).map(entry).collect())
        };
        self.rows.iter().map(object).collect()
    }
}

/// A number for reading: four significant digits, as an exponent when very large or small.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    // Rounded to four digits first, so that the exponent is that of 1000 for 999.96.
    let scientific = format!("{value:.3e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..=6) => {
            let decimals = usize::try_from(3 - exponent).unwrap_or(0);
            trimmed(&format!("{value:.decimals$}"))
        }
        _ => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let read: Vec<String> = [0.0, 1.0, 1.16345, 999.96, 12345.6, 1.5e-5, 2.5e9].map(number).into();
        assert_eq!(read, ["0", "1", "1.163", "1000", "12346", "1.5e-5", "2.5e9"]);
    }

    #[test]
    fn a_table_reads_the_same_in_every_form() {
        let mut table = Table::new("t", "T", &["policy", "mst"]);
        table.row(vec!["ps".into(), 2.703_456.into()]);
        assert_eq!(table.to_text(), "T\npolicy  mst\nps      2.703\n");
        assert_eq!(table.to_markdown(), "## T\n\n| policy | mst |\n| --- | --- |\n| ps | 2.703 |\n");
        assert_eq!(table.to_json(), serde_json::json!([{"policy": "ps", "mst": 2.703_456}]));
        let mut csv = Vec::new();
        table.write_csv(&mut csv).unwrap();
        assert_eq!(csv, b"policy,mst\nps,2.703456\n");
        assert_eq!(Table::read_csv(csv.as_slice()).unwrap().to_markdown_rows(), table.to_markdown_rows());
    }
}
