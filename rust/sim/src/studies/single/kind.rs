//! The policies by name.

use std::fmt;
use std::str::FromStr;

use super::blind::Blind;
use super::discipline::{FairShare, LeastAttained, Serial};
use super::engine::{simulate, Moment};
use super::order::{Fsp, Srpt};
use super::policy::Policy;
use super::size_based::{LateJobs, SizeBased, Told};
use crate::workload::Job;

/// A policy of the single server. Sources: HFSP thesis §2.1 and §3.1; its simulator for the `+DC` and `SRPTE+…`
/// variants, the weights of PSBS and the order among FSPE's late jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyKind {
    /// First in, first out.
    Fifo,
    /// Processor sharing: equal shares.
    Ps,
    /// Generalised processor sharing: shares by weight.
    Gps,
    /// Least attained service.
    Las,
    /// Shortest remaining processing time, sizes known.
    Srpt,
    /// Fair sojourn protocol, sizes known.
    Fsp,
    /// SRPT on estimates: a late job keeps the server.
    Srpte,
    /// SRPT on estimates: late jobs and the job in front share equally.
    SrptePs,
    /// SRPT on estimates: the least served late jobs and the job in front share equally.
    SrpteLas,
    /// FSP on estimates: late jobs one at a time, in the order they became late.
    Fspe,
    /// FSP on estimates: late jobs, and nobody else, share equally.
    FspePs,
    /// FSP on estimates: the least served late jobs, and nobody else, share equally.
    FspeLas,
    /// FSP on estimates: late jobs and the job in front share equally.
    FspeDc,
    /// FSPE+PS with weights, in the virtual system and among late jobs.
    Psbs,
}

impl PolicyKind {
    /// All of them, blind ones first.
    pub const ALL: [PolicyKind; 14] = [
        PolicyKind::Fifo,
        PolicyKind::Ps,
        PolicyKind::Gps,
        PolicyKind::Las,
        PolicyKind::Srpt,
        PolicyKind::Fsp,
        PolicyKind::Srpte,
        PolicyKind::SrptePs,
        PolicyKind::SrpteLas,
        PolicyKind::Fspe,
        PolicyKind::FspePs,
        PolicyKind::FspeLas,
        PolicyKind::FspeDc,
        PolicyKind::Psbs,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PolicyKind::Fifo => "fifo",
            PolicyKind::Ps => "ps",
            PolicyKind::Gps => "gps",
            PolicyKind::Las => "las",
            PolicyKind::Srpt => "srpt",
            PolicyKind::Fsp => "fsp",
            PolicyKind::Srpte => "srpte",
            PolicyKind::SrptePs => "srpte+ps",
            PolicyKind::SrpteLas => "srpte+las",
            PolicyKind::Fspe => "fspe",
            PolicyKind::FspePs => "fspe+ps",
            PolicyKind::FspeLas => "fspe+las",
            PolicyKind::FspeDc => "fspe+dc",
            PolicyKind::Psbs => "psbs",
        }
    }

    /// Whether it goes by estimated sizes, so that estimation errors change what it does.
    pub fn uses_estimates(self) -> bool {
        use PolicyKind::{Fifo, Fsp, Gps, Las, Ps, Srpt};
        !matches!(self, Fifo | Ps | Gps | Las | Srpt | Fsp)
    }

    /// When each of `jobs` (in order of arrival) completes, in their order; seconds.
    pub fn completions(self, jobs: &[Job]) -> Vec<f64> {
        let mut completions = vec![f64::NAN; jobs.len()];
        self.observe(jobs, |now, moment, _| {
            if let Moment::Completion(id) = moment {
                completions[id as usize] = now;
            }
        });
        completions
    }

    /// Runs `jobs` (in order of arrival), telling `observe` of every moment, its time and the policy after it.
    pub fn observe(self, jobs: &[Job], observe: impl FnMut(f64, Moment, &dyn Policy)) {
        use LateJobs::{Alone, BesideFront};
        use Told::{Estimate, EstimateAndWeight, Size};
        match self {
            PolicyKind::Fifo => run(jobs, Blind::<Serial>::equal(), observe),
            PolicyKind::Ps => run(jobs, Blind::<FairShare>::equal(), observe),
            PolicyKind::Gps => run(jobs, Blind::<FairShare>::weighted(), observe),
            PolicyKind::Las => run(jobs, Blind::<LeastAttained>::equal(), observe),
            PolicyKind::Srpt => run(jobs, SizeBased::<Srpt, Serial>::new(Size, Alone), observe),
            PolicyKind::Fsp => run(jobs, SizeBased::<Fsp, Serial>::new(Size, Alone), observe),
            PolicyKind::Srpte => run(jobs, SizeBased::<Srpt, Serial>::new(Estimate, Alone), observe),
            PolicyKind::SrptePs => run(jobs, SizeBased::<Srpt, FairShare>::new(Estimate, BesideFront), observe),
            PolicyKind::SrpteLas => run(jobs, SizeBased::<Srpt, LeastAttained>::new(Estimate, BesideFront), observe),
            PolicyKind::Fspe => run(jobs, SizeBased::<Fsp, Serial>::new(Estimate, Alone), observe),
            PolicyKind::FspePs => run(jobs, SizeBased::<Fsp, FairShare>::new(Estimate, Alone), observe),
            PolicyKind::FspeLas => run(jobs, SizeBased::<Fsp, LeastAttained>::new(Estimate, Alone), observe),
            PolicyKind::FspeDc => run(jobs, SizeBased::<Fsp, FairShare>::new(Estimate, BesideFront), observe),
            PolicyKind::Psbs => run(jobs, SizeBased::<Fsp, FairShare>::new(EstimateAndWeight, Alone), observe),
        }
    }
}

fn run<P: Policy>(jobs: &[Job], mut policy: P, mut observe: impl FnMut(f64, Moment, &dyn Policy)) {
    simulate(jobs, &mut policy, |now, moment, policy| observe(now, moment, policy));
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No policy has this name.
#[derive(Debug, thiserror::Error)]
#[error("no policy is called {0:?}: one of {names}", names = PolicyKind::ALL.map(PolicyKind::name).join(", "))]
pub struct UnknownPolicy(String);

impl FromStr for PolicyKind {
    type Err = UnknownPolicy;

    fn from_str(name: &str) -> Result<PolicyKind, UnknownPolicy> {
        let lower = name.to_ascii_lowercase();
        let found = PolicyKind::ALL.into_iter().find(|kind| kind.name() == lower);
        found.ok_or_else(|| UnknownPolicy(name.to_owned()))
    }
}
