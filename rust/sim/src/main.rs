//! The `hiatus` command: see [`hiatus_sim::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    hiatus_sim::cli::main()
}
