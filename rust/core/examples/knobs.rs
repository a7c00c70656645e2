//! Writes the table of knobs into docs/operations.md: `cargo run -p hiatus-core --example knobs`.

use std::error::Error;
use std::fs;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

fn main() -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(FILE)?;
    let (before, rest) = text.split_once("<!-- knobs -->\n").ok_or("no <!-- knobs --> in docs/operations.md")?;
    let (_, after) =
        rest.split_once("<!-- end of knobs -->").ok_or("no <!-- end of knobs --> in docs/operations.md")?;
    let table = hiatus_core::settings::table();
    fs::write(FILE, format!("{before}<!-- knobs -->\n{table}<!-- end of knobs -->{after}"))?;
    Ok(())
}
