//! The thread that simulates: nobody waits for it. It is given what an onlooker knows, which is all that its caller's lock pays for
//! beside the onlooker.

use crate::hindsight::setting::Properties;
use crate::hindsight::{saved, Bounds, LeftOut, Onlooker, Past, Saved, Unanswered};
use crate::worker::{Wanted, Worker};
use hiatus_core::fact::Fact;
use hiatus_core::settings::HindsightSettings;
use hiatus_core::units::Millis;
use hiatus_core::Scheduler;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most heartbeats of nodes that are simulated.
const BEATS: u64 = 5_000_000;

/// What is known now.
#[derive(Clone, Debug)]
pub enum Latest {
    /// None is wanted.
    Off,
    /// The core decides: what its settings do is seen on the cluster.
    Placing,
    /// The first simulation is not done, or no job has come and ended lately.
    Awaited,
    /// Jobs came and ended lately, and none of them can be simulated.
    NoJob {
        /// Those and the others that were there.
        left_out: LeftOut,
    },
    /// The last simulation did not come to its end.
    Impossible {
        /// Why.
        why: String,
    },
    /// It failed, which would be a defect; nothing is simulated any more.
    Failed,
    /// The last answer.
    Made {
        /// When the facts were those, by the core's time.
        at: Millis,
        /// The answer.
        saved: Arc<Saved>,
        /// How long the simulations took.
        took: Duration,
    },
}

#[derive(Debug)]
struct Working {
    onlooker: Onlooker,
    simulator: Worker<(Millis, Past), Latest>,
    /// Nothing before the first step.
    due: Option<Millis>,
}

/// What settings would have saved, as a core's caller has it.
#[derive(Debug)]
pub struct Hindsight {
    settings: HindsightSettings,
    properties: Properties,
    /// Who finds out, or why nobody does.
    working: Result<Working, Latest>,
}

impl Hindsight {
    /// Begins to look on, from the core's state now; where that is not wanted there is no thread, and nothing is remembered.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn begin(core: &Scheduler, properties: Properties) -> std::io::Result<Hindsight> {
        let settings = core.settings().cluster.hindsight;
        let working = match settings {
            HindsightSettings { interval: Millis(0), .. } => Err(Latest::Off),
            HindsightSettings { observes: false, .. } => Err(Latest::Placing),
            HindsightSettings { window, max_size: size, .. } => Ok(Working {
                onlooker: Onlooker::of(core.cluster(), Bounds { window, size, beats: BEATS }),
                simulator: Worker::begin("hindsight", Latest::Awaited, Latest::Failed, simulating())?,
                due: None,
            }),
        };
        Ok(Hindsight { settings, properties, working })
    }

    /// The core has other properties now. What happened stays known, unless it is to be looked at otherwise.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn configure(&mut self, core: &Scheduler, properties: Properties) -> std::io::Result<()> {
        if core.settings().cluster.hindsight == self.settings {
            self.properties = properties;
        } else {
            *self = Hindsight::begin(core, properties)?;
        }
        Ok(())
    }

    /// After a step: hears its facts, and gives the thread what is known if it is time for that and it has done the last.
    pub fn look(&mut self, core: &Scheduler, facts: &[Fact]) {
        let Ok(Working { onlooker, simulator, due }) = &mut self.working else { return };
        let now = core.cluster().now();
        onlooker.step(now);
        facts.iter().for_each(|fact| onlooker.hear(fact));
        if now < *due.get_or_insert(now + self.settings.interval) || !simulator.is_idle() {
            return;
        }
        *due = Some(now + self.settings.interval);
        simulator.give((now, Past { properties: self.properties.clone(), ..onlooker.past() }));
    }

    /// What is known now.
    pub fn latest(&self) -> Latest {
        self.working.as_ref().map_or_else(Latest::clone, |working| working.simulator.latest())
    }
}

fn simulating() -> impl FnMut((Millis, Past), Wanted<'_>) -> Option<Latest> {
    // What was asked last, and the answer.
    let mut last: Option<(Past, Saved, Duration)> = None;
    move |(at, past), wanted| {
        let (saved, took) = match last.take() {
            // Nothing has happened since but what is left out.
            Some((before, saved, took)) if before.is_as(&past) => {
                let left_out = LeftOut { gone: saved.left_out.gone, ..past.left_out };
                (Saved { left_out, ..saved }, took)
            }
            _ => {
                let began = Instant::now();
                match saved(&past, wanted) {
                    Ok(saved) => (saved, began.elapsed()),
                    Err(Unanswered::NoJob(left_out)) if left_out.came_and_ended() > 0 => {
                        return Some(Latest::NoJob { left_out })
                    }
                    Err(Unanswered::NoJob(_)) => return Some(Latest::Awaited),
                    Err(Unanswered::Impossible(error)) => return Some(Latest::Impossible { why: error.to_string() }),
                }
            }
        };
        last = Some((past, saved.clone(), took));
        Some(Latest::Made { at, saved: Arc::new(saved), took })
    }
}
