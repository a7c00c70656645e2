//! Jobs by their size: how many seconds of tasks they have.

/// Upper ends of the classes, in seconds of tasks, and what they are called.
const CLASSES: [(f64, &str); 5] = [
    (60.0, "up to 1 min"),
    (600.0, "up to 10 min"),
    (3_600.0, "up to 1 h"),
    (36_000.0, "up to 10 h"),
    (f64::INFINITY, "more"),
];

/// What all jobs together are called.
pub const ALL: &str = "all";

/// The classes that have jobs, with the places of these in `work_s`, the smallest first; [`ALL`] come last.
pub fn members(work_s: &[f64]) -> Vec<(&'static str, Vec<usize>)> {
    let class = |work: f64| CLASSES.iter().position(|(end, _)| work <= *end).unwrap_or_default();
    let of = |which: usize| (0..work_s.len()).filter(|job| class(work_s[*job]) == which).collect();
    let classes = (0..CLASSES.len()).map(|which| (CLASSES[which].1, of(which)));
    classes.chain([(ALL, (0..work_s.len()).collect())]).filter(|(_, jobs): &(_, Vec<usize>)| !jobs.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_in_one_class_and_in_all() {
        let found = members(&[60.0, 5_000.0, 61.0, 59.0]);
        let expected = [("up to 1 min", vec![0, 3]), ("up to 10 min", vec![2]), ("up to 10 h", vec![1])];
        assert_eq!(found[..3], expected);
        assert_eq!(found[3], (ALL, vec![0, 1, 2, 3]));
    }
}
