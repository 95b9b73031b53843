//! `cargo xtask arm`: the tests of the arithmetic and of TLS, and the program, for processors of ARM, emulated by qemu.

use std::process::Command;

use crate::machine;
use crate::processor::{Cross, PROCESSORS, Processor};
use crate::workspace::{cargo, root};

const USAGE: &str = "usage: cargo xtask arm [aarch64 | armv7] [--only tests | --only program]";
/// The crates whose code differs between processors: integers, pairings, and the cryptography that is linked in.
const TESTED: &[&str] = &[
    "test",
    "--lib",
    "--package",
    "selfsame-bignum",
    "--package",
    "selfsame-anoncreds",
    "--package",
    "selfsame-crypto",
    "--package",
    "selfsame-tls",
    "--",
    // An emulator's times say nothing of a processor's.
    "--skip",
    "takes_as_long",
];
const BUILT: &[&str] = &["build", "--release", "--package", "selfsame"];
/// What the program is asked, emulated.
const ASKED: &[&[&str]] = &[
    &["--version"],
    &["did", "new", "--method", "key"],
    &["demo", "immunization"],
];

/// What to do for a processor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Tests,
    Program,
}

/// Runs `cargo xtask arm`.
pub fn command(arguments: &[String]) -> Result<bool, String> {
    let (processors, parts) = chosen(arguments)?;
    let mut passed = true;
    for processor in processors {
        let Some(cross) = processor.foreign() else {
            println!("==> {} is the processor of this machine", processor.name);
            continue;
        };
        println!("==> {}", processor.name);
        prepare(cross)?;
        for part in &parts {
            passed &= match part {
                Part::Tests => runs(cross, TESTED)?,
                Part::Program => program_answers(processor, cross)?,
            };
        }
    }
    Ok(passed)
}

/// Which processors, and what is done for each.
fn chosen(arguments: &[String]) -> Result<(Vec<&'static Processor>, Vec<Part>), String> {
    let of_arm = || {
        PROCESSORS
            .iter()
            .filter(|processor| processor.cross.is_some())
    };
    let (mut processors, mut parts) = (Vec::new(), Vec::new());
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--only" => parts.push(match words.next() {
                Some("tests") => Part::Tests,
                Some("program") => Part::Program,
                _ => return Err(USAGE.to_owned()),
            }),
            name => {
                let known = of_arm().find(|processor| processor.name == name);
                processors.push(known.ok_or(USAGE)?);
            }
        }
    }
    if processors.is_empty() {
        processors = of_arm().collect();
    }
    if parts.is_empty() {
        parts = vec![Part::Tests, Part::Program];
    }
    Ok((processors, parts))
}

/// Installs what is missing: a compiler, the C library, qemu, and Rust's library.
fn prepare(cross: &Cross) -> Result<(), String> {
    if !machine::runs(&cross.compiler()) || !machine::runs(cross.emulator) {
        machine::install(&[cross.packages, &["qemu-user"]].concat())?;
    }
    let target = cross.target;
    let added = Command::new("rustup")
        .args(["target", "add", target])
        .current_dir(root())
        .status();
    match added {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!("`rustup target add {target}` failed")),
        Err(_) => {
            println!("    there is no rustup: the library of Rust for {target} must be there");
            Ok(())
        }
    }
}

/// Runs cargo for another processor.
fn runs(cross: &Cross, arguments: &[&str]) -> Result<bool, String> {
    println!(
        "    cargo {} --target {}",
        arguments.join(" "),
        cross.target
    );
    let mut command = Command::new(cargo());
    let end = arguments.iter().position(|word| *word == "--");
    let (own, of_tests) = arguments.split_at(end.unwrap_or(arguments.len()));
    command.args(own).current_dir(root());
    cross.name_to(&mut command);
    command.args(of_tests);
    Ok(command
        .status()
        .map_err(|error| format!("cargo: {error}"))?
        .success())
}

/// Builds the program for a release, and asks it something.
fn program_answers(processor: &Processor, cross: &Cross) -> Result<bool, String> {
    if !runs(cross, BUILT)? {
        return Ok(false);
    }
    let program = root()
        .join("target")
        .join(cross.target)
        .join("release/selfsame");
    let program = program
        .to_str()
        .ok_or("the path of the program is not UTF-8")?;
    println!("    {program}");
    for words in ASKED {
        println!("    selfsame {}", words.join(" "));
        let start = [&processor.starting(program)[..], words].concat();
        let (first, rest) = start.split_first().ok_or("nothing to run")?;
        let status = Command::new(first).args(rest).status();
        if !status
            .map_err(|error| format!("{first}: {error}"))?
            .success()
        {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen_by(words: &str) -> Result<(Vec<&'static str>, Vec<Part>), String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let (processors, parts) = chosen(&words)?;
        Ok((processors.iter().map(|one| one.name).collect(), parts))
    }

    #[test]
    fn both_processors_and_both_parts_run_unless_some_are_named() {
        let all = (vec!["aarch64", "armv7"], vec![Part::Tests, Part::Program]);
        assert_eq!(chosen_by("").unwrap(), all);
        let one = (vec!["armv7"], vec![Part::Tests]);
        assert_eq!(chosen_by("armv7 --only tests").unwrap(), one);
        for wrong in ["mips", "x86_64", "--only", "--only speed"] {
            assert!(chosen_by(wrong).is_err(), "{wrong}");
        }
    }
}
