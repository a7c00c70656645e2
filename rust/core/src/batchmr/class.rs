//! Which runs are runs of one job: the paper's key has data and cluster size only, so that a sort and a computation of like
//! size would be taken for each other.

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
}
