//! Which runs are runs of one job: BatchMR's key has data and cluster size only, so that a sort and a computation of like
//! size would be taken for each other.

use crate::units::JobClass;

/// The tag by which a user says it.
const TAG: &str = "hiatus.job-class=";

/// The class of an application: what its last tag `hiatus.job-class=…` says, otherwise its name without digits, which runs of
/// one job differ by (dates, numbers). In lower case, as YARN keeps tags.
pub fn job_class<'a>(name: &str, tags: impl Iterator<Item = &'a str>) -> String {
    let tagged = tags.filter_map(|tag| tag.trim().to_lowercase().strip_prefix(TAG).map(str::to_owned)).last();
    tagged.filter(|class| !class.is_empty()).unwrap_or_else(|| {
        let without_digits: String = name.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        without_digits.trim().to_lowercase()
    })
}

/// The number of a class (FNV-1a of 64 bits): names of jobs are their users', and go neither into recordings nor on disk. It is
/// written down by those who remember, so that it must not change.
pub fn class_id(class: &str) -> JobClass {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    JobClass(class.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_says_it_otherwise_the_name_without_digits() {
        let class = |name, tags: &[&'static str]| job_class(name, tags.iter().copied());
        assert_eq!(class("Daily-Sort 2026-11-22 #17", &[]), "daily-sort -- #");
        assert_eq!(class("word count 3", &["etl"]), class("Word Count 44", &[]));
        assert_eq!(class("anything", &["hiatus.job-class=Sort", "etl"]), "sort");
        assert_eq!(class("pi 10", &["hiatus.job-class="]), "pi");
    }
    #[test]
    fn numbers_of_classes_are_those_of_fnv_1a() {
        // From its authors' test vectors: what was remembered under them must be found again.
        assert_eq!(class_id(""), JobClass(0xcbf2_9ce4_8422_2325));
        assert_eq!(class_id("foobar"), JobClass(0x8594_4171_f739_67e8));
    }
}
