//! Hindsight: what other settings would have done to the jobs that came and ended. Their arrivals and the times of their tasks are taken
//! from facts ([`Onlooker`]), and run once more in a simulated cluster ([`setting`]): once under what decided then, which tells how far
//! the simulation is from what happened, and once under the settings in question. The core knows nothing of this.

mod onlooker;
mod past;
mod peak;
mod queues;
mod saved;
pub mod setting;
mod stages;
mod thread;

pub use onlooker::{Bounds, Onlooker};
pub use past::{LeftOut, Past, PastJob};
pub use saved::{saved, Compared, Saved, Unanswered};
pub use thread::{Hindsight, Latest};
