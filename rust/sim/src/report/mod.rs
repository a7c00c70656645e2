//! What a study leaves behind: tables, plots and claims, in a folder.

mod claim;
mod plot;
mod sample;
mod table;

use std::fs;
use std::io;
use std::path::Path;

pub use claim::{Claim, Evidence};
pub use plot::{Axis, Plot, Scale, Series};
pub use sample::{quantile, Sample};
pub use table::{number, Cell, Table};

/// The outcome of a study.
#[derive(Debug, Default)]
pub struct Report {
    /// What was measured.
    pub tables: Vec<Table>,
    /// The same as pictures.
    pub plots: Vec<Plot>,
    /// What the source says, checked.
    pub claims: Vec<Claim>,
    /// How it was made and how far it can be trusted: runs, substitutes, known deviations.
    pub notes: Vec<String>,
}

impl Report {
    /// Writes `report.md`, a CSV file per table, an SVG file per plot and `claims.json` into `folder`.
    pub fn write(&self, folder: &Path, id: &str, title: &str) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for table in &self.tables {
            table.write_csv(fs::File::create(folder.join(format!("{}.csv", table.name)))?)?;
        }
        for plot in &self.plots {
            fs::write(folder.join(format!("{}.svg", plot.name)), plot.to_svg()?)?;
        }
        fs::write(folder.join("claims.json"), format!("{:#}\n", serde_json::to_value(&self.claims)?))?;
        fs::write(folder.join("report.md"), self.to_markdown(id, title))
    }

    fn to_markdown(&self, id: &str, title: &str) -> String {
        let mut text = format!("# {id}: {title}\n");
        for note in &self.notes {
            text.push_str(&format!("\n{note}\n"));
        }
        for table in &self.tables {
            text.push_str(&format!("\n{}", table.to_markdown()));
        }
        for plot in &self.plots {
            text.push_str(&format!("\n![{}]({}.svg)\n", plot.title, plot.name));
        }
        if !self.claims.is_empty() {
            text.push_str(&format!("\n{}", Claim::table(&self.claims).to_markdown()));
        }
        text
    }
}
