//! docs/operations.md and the ResourceManager's side tell every knob as it is.

use hiatus_core::settings::{CLUSTER_PREFIX, OF_RESOURCE_MANAGER};

fn file(name: &str) -> String {
    std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).expect(name)
}

#[test]
fn the_table_of_knobs_is_not_stale() {
    let text = file("docs/operations.md");
    for (name, table) in hiatus_core::settings::tables() {
        let block = format!("<!-- {name} -->\n{table}<!-- end of {name} -->");
        assert!(text.contains(&block), "run `cargo run -p hiatus-core --example knobs` and commit");
    }
}

#[test]
fn the_page_begins_with_ten_knobs_and_has_each_in_full_once() {
    let [(_, first), (_, usual), (_, of_studies)] = hiatus_core::settings::tables();
    let rows = |table: &str| table.lines().count() - 2;
    let all: Vec<&str> = hiatus_core::settings::knobs().map(|knob| knob.name).collect();
    assert_eq!((rows(&first), rows(&usual) + rows(&of_studies)), (10, all.len()));
    for name in all {
        let row = format!("| `{name}` |");
        assert_eq!(usual.matches(&row).count() + of_studies.matches(&row).count(), 1, "{name}");
        assert!(!(first.contains(&row) && of_studies.contains(&row)), "{name} is for administrators, or for studies");
    }
    assert_eq!(rows(&of_studies), 29, "each of those is a knob");
}

#[test]
fn what_a_job_waits_for_has_a_row_with_what_helps() {
    let part = |text: &str, from: &str, to: &str| {
        let (_, after) = text.split_once(from).expect(from);
        after.split_once(to).expect(to).0.to_string()
    };
    let (explain, no_victim) = (file("rust/core/src/explain.rs"), file("rust/core/src/preempt/no_victim_reason.rs"));
    let said = [
        part(&explain, "let blocked_by", "Some(JobExplanation"),
        part(&explain, "fn behind", "\n}"),
        part(&no_victim, "fmt::Display for", "})?;"),
    ];
    let told = file("docs/operations.md");
    let sentences = said.iter().flat_map(|code| code.split('"').skip(1).step_by(2)).filter(|text| text.contains(' '));
    for sentence in sentences {
        let head = sentence.split(['(', ':', ',']).next().unwrap_or(sentence).trim();
        assert!(
            told.contains(&format!("| {head}")),
            "docs/operations.md does not tell what helps who waits for {head}"
        );
    }
}

#[test]
fn the_knobs_of_the_resource_manager_are_known_and_told() {
    let java = file("java/scheduler/src/main/java/io/hiatus/scheduler/config/HiatusConfiguration.java");
    let read = java.split("= PREFIX + \"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name);
    // The mode is the core's, too.
    let read: Vec<&str> = read.filter(|name| *name != "mode").collect();
    assert_eq!(read, OF_RESOURCE_MANAGER, "HiatusConfiguration and OF_RESOURCE_MANAGER differ");
    let told = file("docs/operations.md");
    for name in read {
        assert!(told.contains(&format!("| `{CLUSTER_PREFIX}{name}` |")), "docs/operations.md does not tell {name}");
    }
}
