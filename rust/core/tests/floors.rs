//! No module of the core imports one above it.

#![allow(clippy::unwrap_used)] // Helpers of tests are no tests to clippy.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// From the ground up. What stands in one line does not know each other.
const FLOORS: &[&[&str]] = &[
    &["units", "visits", "waterline"],
    &["predoop"],
    &["fact", "decision", "line", "flex"],
    &["settings", "recurring"],
    &["hints", "batchmr"],
    &["state", "view"],
    &["entitlement", "estimate", "confine"],
    &["policy", "remember"],
    &["plan"],
    &["place"],
    &["preempt"],
    &["park", "lend"],
    &["stall"],
    &["scheduler"],
    &["explain"],
];

fn floor(module: &str) -> usize {
    let at = FLOORS.iter().position(|floor| floor.contains(&module));
    at.unwrap_or_else(|| panic!("{module} has no floor yet: say where it stands"))
}

/// The modules of the crate that a file or folder names, tests and documentation aside.
fn imports(path: &Path, found: &mut BTreeSet<String>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| imports(&entry.unwrap().path(), found));
        return;
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
    for line in code.filter(|line| !line.trim_start().starts_with("//")) {
        let after = line.split("crate::").skip(1);
        let names = after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>());
        found.extend(names);
    }
}

#[test]
fn no_module_imports_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut looked_at = 0;
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if module == "lib" {
            continue;
        }
        let mut found = BTreeSet::new();
        imports(&path, &mut found);
        found.remove(&module);
        for import in found {
            assert!(floor(&import) < floor(&module), "{module} imports {import}, which does not stand below it");
            looked_at += 1;
        }
    }
    assert!(looked_at > 50, "only {looked_at} imports seen: does this test still read the sources?");
}
