//! docs/operations.md tells every knob as it is.

#[test]
fn the_table_of_knobs_is_not_stale() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let text = std::fs::read_to_string(path).unwrap();
    let table = hiatus_core::settings::table();
    assert!(text.contains(&table), "run `cargo run -p hiatus-core --example knobs` and commit");
}
