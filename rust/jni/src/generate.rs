//! Writes the Java side of the records: `cargo run -p hiatus-jni --bin generate-records`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let path = hiatus::java::path(env!("CARGO_MANIFEST_DIR"));
    match std::fs::write(&path, hiatus::java::records()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
