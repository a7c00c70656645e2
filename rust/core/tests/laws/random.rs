//! Random clusters under random work, with everything going wrong for a while. The observers check every step; in the end
//! every job must have finished. `hiatus fuzz` runs the same worlds in large numbers; a failing seed reproduces there.

use crate::world::{survive, Faults};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn laws_hold_while_nothing_goes_wrong(seed in any::<u64>()) {
        survive(seed, Faults::default());
    }

    #[test]
    fn laws_hold_while_everything_goes_wrong(seed in any::<u64>()) {
        survive(seed, Faults::ALL);
    }
}

#[test]
fn laws_hold_in_worlds_that_once_broke_them() {
    let seeds = [
        9_003_237,
        20_001_668,
        20_021_067,
        20_031_966,
        880_001_804,
        23_000_062_108,
        25_000_246_936,
        25_000_313_840,
        28_000_071_487,
        28_000_244_264,
        28_000_584_780,
        30_000_481_268,
        30_000_646_020,
        30_000_732_217,
        41_000_001_127,
        80_000_032_893,
        80_000_035_750,
        90_000_001_343,
        4_100_000_004_322,
        5_000_000_012_002,
        8_000_000_046_081,
        11_870_207_843_940_696_948,
    ];
    for seed in seeds {
        survive(seed, Faults::ALL);
    }
}

#[test]
fn laws_hold_in_calm_worlds_that_once_broke_them() {
    for seed in [5_100_000_003_532, 12_653_558_680_382_390_859] {
        survive(seed, Faults::default());
    }
}
