//! Writes the Java side of the records: `cargo run -p hiatus-jni --bin generate-records`.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::fs::write(hiatus::java::path(), hiatus::java::records()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", hiatus::java::path().display());
            ExitCode::FAILURE
        }
    }
}
