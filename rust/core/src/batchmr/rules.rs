//! The rule engine: how long earlier runs of like size took on each side (BatchMR, condition (2) and equation (1)).

use super::Times;
use crate::fact::{PerSide, Run, Side};
use crate::recurring::moving_mean;
use crate::settings::PlacerSettings;

/// What is asked about a job.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Bytes of its input.
    pub input: u64,
    /// Nodes of each side now. They need not be as many, so that each side's runs are compared with its own size.
    pub nodes: PerSide<u32>,
}

/// How long the job will take on each side, by earlier runs of its class (by all runs, in the literal mode) whose cluster and
/// whose input were about as large. `None`, the paper's UNKNOWN, if there is none on one of the sides.
pub fn ask(rules: &PlacerSettings, question: Question, runs: &[Run]) -> Option<Times> {
    let alike = |run: &&Run| {
        (rules.literal || run.same_class)
            && within(run.nodes.into(), question.nodes[Some(run.side)].into(), rules.cluster_size)
            && within(run.input as f64, question.input as f64, rules.data_size)
    };
    let time = |side| {
        let mut of_side: Vec<&Run> = runs.iter().filter(|run| run.side == side).filter(alike).collect();
        of_side.sort_by_key(|run| run.at_ms);
        moving_mean(rules.alpha, of_side.into_iter().map(|run| run.took))
    };
    Some(Times { physical_s: time(Side::Physical)?, virtual_s: time(Side::Virtual)? })
}

/// Whether `found` differs from `wanted` by at most that part of it, both bounds included.
fn within(found: f64, wanted: f64, part: f64) -> bool {
    // What is rounded away must not exclude a bound.
    (found - wanted).abs() <= wanted * (part + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::units::Millis;

    const GB: u64 = 1 << 30;

    fn rules() -> PlacerSettings {
        Settings::default().queue("root.default").placer
    }

    /// A run of 20 GB on ten nodes.
    fn run(side: Side, at_ms: u64, seconds: u64) -> Run {
        Run { same_class: true, side, at_ms, took: Millis(seconds * 1000), nodes: 10, input: 20 * GB }
    }

    fn ask_for(rules: &PlacerSettings, runs: &[Run]) -> Option<Times> {
        ask(rules, Question { input: 20 * GB, nodes: PerSide::both(10) }, runs)
    }

    #[test]
    fn equation_1_weighs_the_newest_run_with_alpha_whatever_order_they_are_told_in() {
        let runs = [
            run(Side::Physical, 3, 130),
            run(Side::Physical, 1, 100),
            run(Side::Physical, 2, 200),
            run(Side::Virtual, 1, 90),
        ];
        let times = ask_for(&rules(), &runs).unwrap();
        // 100; 0.3·200 + 0.7·100 = 130; 0.3·130 + 0.7·130 = 130.
        assert!((times.physical_s - 130.0).abs() < 1e-9, "{times:?}");
        assert_eq!(times.virtual_s, 90.0);
        let two = ask_for(&rules(), &runs[1..]).unwrap();
        assert!((two.physical_s - 130.0).abs() < 1e-9);
    }

    #[test]
    fn unknown_in_all_four_empty_cases() {
        let (physical, virtual_) = (run(Side::Physical, 1, 100), run(Side::Virtual, 1, 150));
        let other_size = |run: Run| Run { input: 40 * GB, ..run };
        assert_eq!(ask_for(&rules(), &[]), None, "there is no record");
        assert_eq!(ask_for(&rules(), &[other_size(physical), other_size(virtual_)]), None, "none is within the ranges");
        assert_eq!(ask_for(&rules(), &[physical, other_size(virtual_)]), None, "none of them is virtual");
        assert_eq!(ask_for(&rules(), &[virtual_]), None, "none of them is physical");
        assert!(ask_for(&rules(), &[physical, virtual_]).is_some());
    }

    #[test]
    fn both_sizes_count_and_their_bounds_are_inside() {
        let with = |nodes, input| Run { nodes, input, ..run(Side::Physical, 1, 100) };
        let known = |one: Run| ask_for(&rules(), &[one, run(Side::Virtual, 1, 100)]).is_some();
        for nodes in [8, 12] {
            assert!(known(with(nodes, 20 * GB)), "{nodes} nodes are within 20 %");
        }
        for input in [17 * GB, 23 * GB] {
            assert!(known(with(10, input)), "{input} is within 15 %");
        }
        assert!(!known(with(7, 20 * GB)) && !known(with(13, 20 * GB)));
        assert!(!known(with(10, 17 * GB - GB / 8)) && !known(with(10, 23 * GB + GB / 8)));
    }

    #[test]
    fn thresholds_of_zero_take_exact_matches_only() {
        let exact = PlacerSettings { cluster_size: 0.0, data_size: 0.0, ..rules() };
        let runs = [run(Side::Physical, 1, 100), run(Side::Virtual, 1, 100)];
        assert!(ask_for(&exact, &runs).is_some());
        assert_eq!(ask_for(&exact, &runs.map(|run| Run { input: run.input + GB / 8, ..run })), None);
    }

    #[test]
    fn each_sides_runs_are_compared_with_its_own_size() {
        let runs = [run(Side::Physical, 1, 100), Run { nodes: 40, ..run(Side::Virtual, 1, 100) }];
        let mut nodes = PerSide::both(10);
        nodes[Some(Side::Virtual)] = 40;
        assert!(ask(&rules(), Question { input: 20 * GB, nodes }, &runs).is_some());
        assert_eq!(ask_for(&rules(), &runs), None);
    }

    #[test]
    fn only_the_literal_mode_takes_a_sort_and_a_computation_of_one_size_for_each_other() {
        let stranger = |run: Run| Run { same_class: false, ..run };
        let runs = [stranger(run(Side::Physical, 1, 100)), run(Side::Virtual, 1, 100)];
        assert_eq!(ask_for(&rules(), &runs), None);
        assert!(ask_for(&PlacerSettings { literal: true, ..rules() }, &runs).is_some());
    }
}
