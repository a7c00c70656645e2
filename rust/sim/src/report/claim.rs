//! A published statement, what was measured for it, and the verdict.

use serde::{Deserialize, Serialize};

use super::{number, Cell, Table};

/// One checked claim.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claim {
    /// Identifier of the claim, such as `S-07`.
    pub id: String,
    /// What is claimed, with its threshold.
    pub statement: String,
    /// Every number the verdict rests on.
    pub measured: String,
    /// Whether all of it holds.
    pub passes: bool,
    /// Why it fails, or what to know about the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Claim {
    /// A claim decided by `evidence`.
    pub fn new(id: &str, statement: &str, evidence: Evidence) -> Claim {
        let (id, statement) = (id.to_owned(), statement.to_owned());
        Claim { id, statement, measured: evidence.measured.join("; "), passes: evidence.holds, remark: None }
    }

    /// The same claim under other circumstances.
    pub fn under(self, circumstances: &str) -> Claim {
        Claim { id: format!("{} ({circumstances})", self.id), ..self }
    }

    /// The claim with something to know about it.
    pub fn remark(mut self, remark: impl Into<String>) -> Claim {
        self.remark = Some(remark.into());
        self
    }

    /// All claims as a table.
    pub fn table(claims: &[Claim]) -> Table {
        let mut table = Table::new("claims", "Claims", &["id", "verdict", "claim", "measured", "remark"]);
        for claim in claims {
            table.row(vec![
                claim.id.as_str().into(),
                if claim.passes { "PASS" } else { "FAIL" }.into(),
                claim.statement.as_str().into(),
                Cell::Text(claim.measured.clone()),
                Cell::Text(claim.remark.clone().unwrap_or_default()),
            ]);
        }
        table
    }
}

/// Comparisons that together decide a claim; each is recorded with its number.
#[derive(Debug)]
pub struct Evidence {
    measured: Vec<String>,
    holds: bool,
}

impl Default for Evidence {
    fn default() -> Evidence {
        Evidence { measured: Vec::new(), holds: true }
    }
}

impl Evidence {
    /// Records that `value` must be at most `bound` (a NaN never is).
    #[must_use]
    pub fn at_most(self, what: &str, value: f64, bound: f64) -> Evidence {
        self.record(format!("{what} {} (≤ {})", number(value), number(bound)), value <= bound)
    }

    /// Records that `value` must be at least `bound`.
    #[must_use]
    pub fn at_least(self, what: &str, value: f64, bound: f64) -> Evidence {
        self.record(format!("{what} {} (≥ {})", number(value), number(bound)), value >= bound)
    }

    /// Records that `value` must be below `bound`.
    #[must_use]
    pub fn below(self, what: &str, value: f64, bound: f64) -> Evidence {
        self.record(format!("{what} {} (< {})", number(value), number(bound)), value < bound)
    }

    /// Records that `value` must be above `bound`.
    #[must_use]
    pub fn above(self, what: &str, value: f64, bound: f64) -> Evidence {
        self.record(format!("{what} {} (> {})", number(value), number(bound)), value > bound)
    }

    /// Records that `value` must lie in `low..=high`.
    #[must_use]
    pub fn within(self, what: &str, value: f64, low: f64, high: f64) -> Evidence {
        let holds = (low..=high).contains(&value);
        self.record(format!("{what} {} ({}…{})", number(value), number(low), number(high)), holds)
    }

    fn record(mut self, text: String, holds: bool) -> Evidence {
        self.measured.push(if holds { text } else { format!("**{text}**") });
        self.holds &= holds;
        self
    }
}
