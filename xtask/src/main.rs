//! Development tasks: `cargo xtask tidy`, `cargo xtask test`.
#![allow(
    clippy::disallowed_macros,
    reason = "this binary talks to a developer's terminal"
)]

use std::process::ExitCode;

mod machine;
mod source;
mod test;
mod tidy;
mod workspace;

const USAGE: &str = "\
Development tasks of Selfsame.

Usage: cargo xtask tidy [FOLDER]
       cargo xtask test [--only STEP]... [--skip STEP]... [-- CARGO TEST ARGUMENTS]

tidy   checks layers, sizes, module docs and documents; prints what to do;
       with a folder, only what is below it
test   installs what the tests need and runs everything; --help lists its steps

Example: cargo xtask test --only test -- -p selfsame-did
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let done = match task.as_str() {
        "tidy" if rest.len() <= 1 => tidy::run(rest.first().map_or("", String::as_str)),
        "test" => test::run(&rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(true)
        }
        _ => Err(format!("unknown task or argument\n\n{USAGE}")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::from(2)
        }
    }
}
