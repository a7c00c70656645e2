//! Who of the late jobs comes first. They are virtually done, and would have nothing left to be ordered by.
//!
//! In the order in which they became late, one large job that is late (of more work than was thought, or on a cluster that was slower
//! than the virtual one) holds up all small ones, and these become late behind it: the known weakness of FSP with errors, for which
//! PSBS shares evenly among late jobs (Dell'Amico, Carra and Michiardi). Shares make jobs that are alike end together; the idea
//! of FSP itself, to serve in the order in which shares would end, does not.

use super::Ranked;
use crate::policy::turns::Turns;
use crate::policy::JobView;
use crate::state::ByHandle;
use crate::units::{AppId, Millis};

/// The late jobs, shared evenly in virtual time.
#[derive(Clone, Debug, Default)]
pub struct Late {
    /// Up to when that time has passed.
    at: Millis,
    /// How much each would have been served that was late from the first, in seconds of the partition.
    served_s: f64,
    /// What that was when each became late.
    since: ByHandle<AppId, f64>,
    turns: Turns,
}

impl Late {
    /// By what each really has left (`left_s`, which may be wrong by `error_s`), less what it would have been served since it is late
    /// if they shared evenly: nobody is passed for ever.
    pub fn in_order<'a>(
        &mut self,
        late: &[Ranked<'a>],
        now: Millis,
        left_s: impl Fn(&JobView) -> f64,
        error_s: impl Fn(&JobView) -> f64,
    ) -> Vec<Ranked<'a>> {
        if !self.since.is_empty() {
            self.served_s += now.since(self.at).seconds() / self.since.len() as f64;
        }
        self.at = now;
        let before = std::mem::take(&mut self.since);
        let since = |job: &JobView| before.get(&job.app).copied().unwrap_or(self.served_s);
        self.since = late.iter().map(|ranked| (ranked.job.app, since(ranked.job))).collect();
        let served_s = |job: &JobView| self.served_s - self.since[&job.app];
        let left =
            late.iter().map(|ranked| (*ranked, ranked.job, (left_s(ranked.job) - served_s(ranked.job)).max(0.0)));
        self.turns.in_order(left, |ranked| error_s(ranked.job))
    }
}
