//! Independent random streams from one seed.

use rand::SeedableRng;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// What a stream is used for. Each has its own stream, so that changing one parameter of a workload leaves every
/// other draw as it was (common random numbers).
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    Sizes = 1,
    Gaps = 2,
    Errors = 3,
    Weights = 4,
}

/// The stream of one purpose in one run.
pub(super) fn rng(seed: u64, run: u64, stream: Stream) -> Xoshiro256PlusPlus {
    let mix = |state: u64| rand::RngCore::next_u64(&mut SplitMix64::seed_from_u64(state));
    Xoshiro256PlusPlus::seed_from_u64(mix(mix(seed) ^ run).wrapping_add(stream as u64))
}
