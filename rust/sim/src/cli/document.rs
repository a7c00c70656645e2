//! `hiatus document FILE`: fills the tables of a document from what `hiatus reproduce` wrote.

use std::fs;
use std::path::PathBuf;

use super::CliError;
use crate::studies::all;
use crate::studies::document::{fill, DocumentError};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A table stands between a line `<!-- STUDY/TABLE -->` and a line `<!-- end -->`, the verdicts of \
    studies between `<!-- claims ID… -->` and `<!-- end -->`. What was not reproduced stays as it is."
)]
pub(crate) struct Args {
    /// The document; it is written anew.
    #[arg(value_name = "FILE.md")]
    document: PathBuf,
    /// Where the studies wrote.
    #[arg(long, default_value = "build/reproduce", value_name = "DIR")]
    from: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let path = &args.document;
    let text = fs::read_to_string(path).map_err(|source| DocumentError::Read { path: path.clone(), source })?;
    let filled = fill(&text, &args.from, all())?;
    for block in &filled.left {
        eprintln!("left as it was, not reproduced in {}: {block}", args.from.display());
    }
    fs::write(path, filled.text).map_err(|source| CliError::Write { path: path.clone(), source })
}
