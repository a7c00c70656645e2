//! Writes the tables of knobs into docs/operations.md: `cargo run -p hiatus-core --example knobs`.

use std::error::Error;
use std::fs;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = fs::read_to_string(FILE)?;
    for (name, table) in hiatus_core::settings::tables() {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let (before, rest) = text.split_once(&begin).ok_or_else(|| format!("no {begin:?} in docs/operations.md"))?;
        let (_, after) = rest.split_once(&end).ok_or_else(|| format!("no {end:?} in docs/operations.md"))?;
        text = format!("{before}{begin}{table}{end}{after}");
    }
    fs::write(FILE, text)?;
    Ok(())
}
