//! A document whose tables come from what studies wrote, so that nobody copies numbers.
//!
//! A block is a line `<!-- STUDY/TABLE -->`, or `<!-- claims ID… -->` with ids as `hiatus reproduce` takes them, then the
//! table, then a line `<!-- end -->`. Everything else is the author's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::study::{select, Study, StudyError};
use crate::report::{Claim, Table};

/// Why a document cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
    /// A block has no end.
    #[error("line {0}: this block has no line `<!-- end -->`")]
    Open(usize),
    /// A block names no study.
    #[error("line {line}: {source}")]
    Study {
        /// Where.
        line: usize,
        /// What is wrong with it.
        source: StudyError,
    },
}

/// A document, filled.
#[derive(Debug)]
pub struct Filled {
    /// Its text.
    pub text: String,
    /// Blocks that are as they were: nobody ran their studies.
    pub left: Vec<String>,
}

/// Puts the tables that `studies` wrote below `folder` into the blocks of `text`.
///
/// # Errors
/// A block that names nothing or does not end, or a table that cannot be read.
pub fn fill(text: &str, folder: &Path, studies: &[&'static Study]) -> Result<Filled, DocumentError> {
    let named = |ids: &str, line| {
        let ids: Vec<String> = ids.split_whitespace().map(str::to_owned).collect();
        select(studies, &ids).map_err(|source| DocumentError::Study { line, source })
    };
    let mut filled = Filled { text: String::new(), left: Vec::new() };
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        filled.text.push_str(line);
        filled.text.push('\n');
        let Some(source) = block(line) else { continue };
        let mut old = String::new();
        loop {
            let (_, line) = lines.next().ok_or(DocumentError::Open(number + 1))?;
            if block(line) == Some("end") {
                break;
            }
            old.push_str(line);
            old.push('\n');
        }
        let line = number + 1;
        let new = match source.strip_prefix("claims ") {
            Some(ids) => claims(&named(ids, line)?, folder)?,
            None => {
                let (study, _) = source.split_once('/').unwrap_or((source, ""));
                named(study, line)?;
                table(&folder.join(format!("{source}.csv")))?
            }
        };
        if new.is_none() {
            filled.left.push(source.to_owned());
        }
        filled.text.push_str(&new.unwrap_or(old));
        filled.text.push_str("<!-- end -->\n");
    }
    Ok(filled)
}

/// What a comment line that is part of a block says: a slash, ids, or its end.
fn block(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    (inner == "end" || inner.starts_with("claims ") || inner.contains('/')).then_some(inner)
}

fn table(path: &Path) -> Result<Option<String>, DocumentError> {
    if !path.exists() {
        return Ok(None);
    }
    let read = fs::File::open(path).and_then(Table::read_csv);
    let table = read.map_err(|source| DocumentError::Read { path: path.to_owned(), source })?;
    Ok(Some(table.to_markdown_rows()))
}

/// The claims of the studies, and how many of them pass; `None` if one of the studies was not run.
fn claims(studies: &[&Study], folder: &Path) -> Result<Option<String>, DocumentError> {
    let mut table = Table::new("claims", "Claims", &["id", "claim", "measured (bound)", "verdict", "study"]);
    let (mut passed, mut all) = (0, 0);
    for study in studies {
        let path = folder.join(study.id).join("claims.json");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let parsed: Result<Vec<Claim>, _> = serde_json::from_str(&text);
        let claims = parsed.map_err(|error| DocumentError::Read { path, source: error.into() })?;
        for claim in claims {
            all += 1;
            passed += usize::from(claim.passes);
            let remark = claim.remark.map(|remark| format!(" ({remark})")).unwrap_or_default();
            table.row(vec![
                claim.id.as_str().into(),
                claim.statement.as_str().into(),
                format!("{}{remark}", claim.measured).as_str().into(),
                if claim.passes { "PASS" } else { "**FAIL**" }.into(),
                format!("`{}`", study.id).as_str().into(),
            ]);
        }
    }
    Ok(Some(format!("{passed} of {all} pass.\n\n{}", table.to_markdown_rows())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::all;

    /// A folder of its own for a test, with one study's table and claim.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hiatus-document-{name}-{}", std::process::id()));
        let study = folder.join("fig-4.1");
        fs::create_dir_all(&study).expect("a temporary folder");
        fs::write(study.join("t.csv"), "case,mean\none,2.703456\n").expect("a table");
        let claim = r#"[{"id": "C", "statement": "S", "measured": "1 (≤ 2)", "passes": true}]"#;
        fs::write(study.join("claims.json"), claim).expect("claims");
        folder
    }

    #[test]
    fn blocks_are_filled_and_everything_else_stays() {
        let folder = folder("fill");
        let text = "# Title\n<!-- fig-4.1/t -->\nold\n<!-- end -->\n<!-- a remark -->\n<!-- claims fig-4.1 -->\n<!-- end -->\nend\n";
        let filled = fill(text, &folder, all()).unwrap();
        let again = fill(&filled.text, &folder, all()).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let expected = "# Title\n<!-- fig-4.1/t -->\n| case | mean |\n| --- | --- |\n| one | 2.703 |\n<!-- end -->\n\
            <!-- a remark -->\n<!-- claims fig-4.1 -->\n1 of 1 pass.\n\n\
            | id | claim | measured (bound) | verdict | study |\n| --- | --- | --- | --- | --- |\n\
            | C | S | 1 (≤ 2) | PASS | `fig-4.1` |\n<!-- end -->\nend\n";
        assert_eq!((filled.text.as_str(), filled.left.len()), (expected, 0));
        assert_eq!(again.text, expected);
    }

    #[test]
    fn a_block_whose_study_was_not_run_stays_and_is_told() {
        let folder = folder("left");
        let text = "<!-- fig-4.2/t -->\nold\n<!-- end -->\n<!-- claims fig-4.1 fig-4.2 -->\nold\n<!-- end -->\n";
        let filled = fill(text, &folder, all()).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(filled.text, text);
        assert_eq!(filled.left, ["fig-4.2/t", "claims fig-4.1 fig-4.2"]);
    }

    #[test]
    fn the_projects_document_names_studies_that_exist() {
        let text = include_str!("../../../../docs/experiments.md");
        assert_eq!(fill(text, Path::new("nowhere"), all()).unwrap().text, text);
    }

    #[test]
    fn a_wrong_block_is_refused_with_its_line() {
        let message = |text| fill(text, Path::new("nowhere"), all()).unwrap_err().to_string();
        assert_eq!(message("a\n<!-- fig-4.1/t -->\nb\n"), "line 2: this block has no line `<!-- end -->`");
        for text in ["<!-- claims fig-9 -->\n<!-- end -->\n", "<!-- fig-9/t -->\n<!-- end -->\n"] {
            let message = message(text);
            assert!(message.starts_with("line 1: no study is called \"fig-9\""), "{message}");
        }
    }
}
