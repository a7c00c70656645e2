//! Which applications' containers may be suspended for others, by YARN's application types.

/// What allows all types.
const ANY: &str = "*";

/// YARN cuts longer types to this number of characters (`YarnConfiguration.APPLICATION_TYPE_LENGTH`).
pub(super) const LONGEST_TYPE: usize = 20;

/// Application types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuspendTypes {
    /// All there are.
    Any,
    /// These, whatever their case.
    Listed(Vec<String>),
}

impl SuspendTypes {
    /// Types with commas between them, or `*`; `None` if one of them cannot be any application's.
    pub(super) fn read(text: &str) -> Option<SuspendTypes> {
        let types: Vec<&str> = text.split(',').map(str::trim).collect();
        if types.contains(&ANY) {
            return Some(SuspendTypes::Any);
        }
        let possible = |one: &&str| (1..=LONGEST_TYPE).contains(&one.chars().count());
        types.iter().all(possible).then(|| SuspendTypes::Listed(types.into_iter().map(String::from).collect()))
    }

    /// Whether an application of that type is meant.
    pub fn allow(&self, application_type: &str) -> bool {
        match self {
            SuspendTypes::Any => true,
            SuspendTypes::Listed(types) => types.iter().any(|one| one.eq_ignore_ascii_case(application_type)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart_by_their_letters_and_not_by_case() {
        let types = SuspendTypes::read("MAPREDUCE, Apache Flink").unwrap();
        let allowed = ["mapreduce", "Apache Flink", "YARN", "", "MAPREDUCE2"].map(|one| types.allow(one));
        assert_eq!(allowed, [true, true, false, false, false]);
        assert!(SuspendTypes::read(" * ").unwrap().allow("YARN"));
    }

    #[test]
    fn what_is_no_applications_type_is_refused() {
        for wrong in ["", "MAPREDUCE,", ",", "a-type-that-yarn-cuts"] {
            assert_eq!(SuspendTypes::read(wrong), None, "{wrong:?}");
        }
    }
}
