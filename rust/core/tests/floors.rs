//! No module imports one above it.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The modules of a crate, from the ground up. What stands in one line does not know each other.
type Floors = &'static [&'static [&'static str]];

const CORE: Floors = &[
    &["side", "units", "visits", "waterline"],
    &["predoop", "stages"],
    &["fact", "decision", "line", "flex"],
    &["settings", "recurring"],
    &["hints", "batchmr"],
    &["state", "view"],
    &["entitlement", "estimate", "confine"],
    &["policy", "remember"],
    &["plan"],
    &["place", "admit"],
    &["preempt"],
    &["park", "lend"],
    &["stall"],
    &["scheduler"],
    &["explain"],
];

const WORLD: Floors = &[
    &["agenda", "faults", "job", "node_manager", "preemption", "spec", "task"],
    &["app", "capacity", "held", "speculation"],
    &["error", "world"],
    &["backups", "books", "check", "nodes", "outcome", "step", "view"],
    &["applications"],
    &["laws"],
];

const SIM: Floors = &[&["report", "workload"], &["cluster"], &["recorded"], &["studies"], &["cli"]];

const BACKGROUND: Floors = &[&["worker"], &["forecast", "hindsight"]];

const WIRE: Floors = &[&["layout"], &["convert"], &["session", "log"]];

fn floor(floors: Floors, module: &str) -> usize {
    let at = floors.iter().position(|floor| floor.contains(&module));
    at.unwrap_or_else(|| panic!("{module} has no floor yet: say where it stands"))
}

/// The modules of the crate that a file or folder names, tests and documentation aside. What stands directly in `src` has the crate
/// above it.
fn imports(path: &Path, roots: &[&str], found: &mut BTreeSet<String>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| imports(&entry.unwrap().path(), &["crate::"], found));
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
    for line in code.filter(|line| !line.trim_start().starts_with("//")) {
        let after = roots.iter().flat_map(|root| line.split(root).skip(1));
        let names = after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
        found.extend(names);
    }
}

/// How many imports between modules the crate has; none of them leads up.
fn imports_downward(folder: &str, floors: Floors) -> usize {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("src");
    let mut looked_at = 0;
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if ["lib", "main"].contains(&&*module) {
            continue;
        }
        let mut found = BTreeSet::new();
        imports(&path, &["crate::", "super::"], &mut found);
        found.remove(&module);
        for import in found {
            let below = floor(floors, &import) < floor(floors, &module);
            assert!(below, "{folder}: {module} imports {import}, which does not stand below it");
            looked_at += 1;
        }
    }
    looked_at
}

#[test]
fn no_module_imports_one_above_it() {
    let crates = [("core", CORE), ("world", WORLD), ("sim", SIM), ("background", BACKGROUND), ("wire", WIRE)];
    let looked_at = crates.map(|(folder, floors)| imports_downward(folder, floors));
    let least = [50, 20, 5, 2, 3];
    let enough = looked_at.iter().zip(least).all(|(found, least)| *found >= least);
    assert!(enough, "only {looked_at:?} imports seen: does this test still read the sources?");
}
