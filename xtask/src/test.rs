//! `cargo xtask test`: every check that must pass before a change is accepted, step by step.

use std::{fs, process::Command, time::Instant};

use crate::{
    engine, machine, openssl, oracle, package, peer, second, tidy,
    workspace::{cargo, root},
};

/// What a step does.
enum Task {
    /// One of our own functions.
    Ours(fn() -> Result<bool, String>),
    /// Checks and installs what the machine must have.
    Machine,
    /// Cargo with these arguments.
    Cargo(&'static [&'static str]),
}

struct Step {
    name: &'static str,
    purpose: &'static str,
    task: Task,
}

/// Cheap steps come first. Every step that compiles uses one profile.
const STEPS: &[Step] = &[
    Step {
        name: "tidy",
        purpose: "layers, sizes, documents",
        task: Task::Ours(|| tidy::run("")),
    },
    Step {
        name: "fmt",
        purpose: "formatting",
        task: Task::Cargo(&["fmt", "--all", "--check"]),
    },
    Step {
        name: "machine",
        purpose: "a C compiler, Chromium and its driver, Java, OpenSSL with what the TLS bench does with it",
        task: Task::Machine,
    },
    Step {
        name: "engine",
        purpose: "CometBFT, built with Go where it is missing",
        task: Task::Ours(engine::prepare),
    },
    Step {
        name: "clippy",
        purpose: "lints, warnings denied",
        task: Task::Cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]),
    },
    Step {
        name: "doc",
        purpose: "the documentation builds, warnings denied",
        task: Task::Cargo(&[
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ]),
    },
    Step {
        name: "test",
        purpose: "every test, those that need Chromium too",
        task: Task::Cargo(TEST),
    },
    Step {
        name: "npm",
        purpose: "OpenID4VC crossed with packages of Node.js",
        task: Task::Ours(peer::cross),
    },
    Step {
        name: "oracle",
        purpose: "AnonCreds and SD-JWT VCs crossed with published libraries, TLS with its second implementation",
        task: Task::Ours(|| {
            let others = second::cross()? && package::cross()?;
            Ok(others && oracle::cross(&oracle::Cross::default())?)
        }),
    },
];

/// The main test run. Tests that need packages of Python or Node.js have steps of their own, and `wheel::`, `python::`
/// or `npm::` in their names. The siege has its own command. A vector that the run itself wrote anew would check
/// nothing.
const TEST: &[&str] = &[
    "test",
    "--workspace",
    "--",
    "--include-ignored",
    "--skip",
    "wheel::",
    "--skip",
    "python::",
    "--skip",
    "npm::",
    "--skip",
    "siege::",
    "--skip",
    "write_the_vector",
];
/// The folder of the tests that need Chromium. Each has the text below in the attribute that makes plain `cargo test`
/// ignore it.
const BROWSER_TESTS: &str = "crates/selfsame/tests/browser";
const NEEDS_CHROMIUM: &str = "needs Chromium";

/// The options of the command line.
#[derive(Debug, Default, PartialEq)]
struct Choice {
    help: bool,
    only: Vec<String>,
    skip: Vec<String>,
    /// Arguments for `cargo test` that replace ours.
    cargo_test: Option<Vec<String>>,
}

/// Runs the chosen steps and returns whether all passed; stops at the first failure.
pub fn run(arguments: &[String]) -> Result<bool, String> {
    let choice = Choice::parse(arguments)?;
    if choice.help {
        print_help();
        return Ok(true);
    }
    let chosen: Vec<&Step> = STEPS
        .iter()
        .filter(|step| choice.wants(step.name))
        .collect();
    let begin = clock();
    for (number, step) in (1..).zip(&chosen) {
        println!(
            "==> {number}/{} {}: {}",
            chosen.len(),
            step.name,
            step.purpose
        );
        let start = clock();
        if !perform(step, &choice)? {
            println!(
                "==> {} failed after {} s",
                step.name,
                start.elapsed().as_secs()
            );
            println!("    again, alone: cargo xtask test --only {}", step.name);
            return Ok(false);
        }
        println!("    {} s", start.elapsed().as_secs());
    }
    println!(
        "==> all {} steps passed in {} s",
        chosen.len(),
        begin.elapsed().as_secs()
    );
    Ok(true)
}

fn perform(step: &Step, choice: &Choice) -> Result<bool, String> {
    let browser_tests = browser_tests()?;
    let arguments: Vec<&str> = match (&step.task, &choice.cargo_test) {
        (Task::Ours(task), _) => return task(),
        (Task::Machine, _) => return prepare(!choice.skips("browser")),
        (Task::Cargo(_), Some(own)) if step.name == "test" => ["test"]
            .into_iter()
            .chain(own.iter().map(String::as_str))
            .collect(),
        (Task::Cargo(_), None) if step.name == "test" && choice.skips("browser") => {
            let skips = browser_tests.iter().flat_map(|name| ["--skip", name]);
            TEST.iter().copied().chain(skips).collect()
        }
        (Task::Cargo(arguments), _) => arguments.to_vec(),
    };
    println!("    cargo {}", arguments.join(" "));
    let mut command = Command::new(cargo());
    // Dependencies are not documented, so this variable causes no rebuild.
    command
        .args(&arguments)
        .current_dir(root())
        .env("RUSTDOCFLAGS", "--deny warnings");
    oracle::name_to(&mut command);
    engine::name_to(&mut command);
    openssl::name_to(&mut command);
    let status = command
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    Ok(status.success())
}

fn prepare(with_browser: bool) -> Result<bool, String> {
    machine::prepare(with_browser)?;
    openssl::prepare().map(|()| true)
}

/// The names of the tests that need Chromium, each with its module.
fn browser_tests() -> Result<Vec<String>, String> {
    let folder = root().join(BROWSER_TESTS);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let module = file.file_stem().and_then(|stem| stem.to_str());
        let module = module.unwrap_or_default();
        let text = fs::read_to_string(&file).map_err(failed)?;
        let tests = text.split(NEEDS_CHROMIUM).skip(1).filter_map(test_name);
        names.extend(tests.map(|name| format!("{module}::{name}")));
    }
    names.sort();
    Ok(names)
}

/// The name of the first function in the text.
fn test_name(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("fn ")?;
    after.split_once('(').map(|(name, _)| name)
}

#[allow(
    clippy::disallowed_methods,
    reason = "how long a step took is for the reader alone"
)]
fn clock() -> Instant {
    Instant::now()
}

fn print_help() {
    println!(
        "Usage: cargo xtask test [--only STEP]... [--skip STEP]... [-- CARGO TEST ARGUMENTS]\n\nSteps:"
    );
    for step in STEPS {
        println!("  {:8} {}", step.name, step.purpose);
    }
    println!("\n`--skip browser` leaves out Chromium and the tests that need it.");
}

impl Choice {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--help" | "-h" => choice.help = true,
                "--only" => choice.only.push(step_name(arguments.next())?),
                "--skip" => choice.skip.push(step_name(arguments.next())?),
                "--" => choice.cargo_test = Some(arguments.by_ref().cloned().collect()),
                other => {
                    return Err(format!(
                        "unknown argument {other}\nhint: cargo xtask test --help"
                    ));
                }
            }
        }
        Ok(choice)
    }

    fn wants(&self, step: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|name| name == step)) && !self.skips(step)
    }

    fn skips(&self, step: &str) -> bool {
        self.skip.iter().any(|name| name == step)
    }
}

fn step_name(argument: Option<&String>) -> Result<String, String> {
    let known = |name: &&String| {
        name.as_str() == "browser" || STEPS.iter().any(|step| step.name == name.as_str())
    };
    let name = argument
        .filter(known)
        .ok_or("this flag wants the name of a step\nhint: cargo xtask test --help")?;
    Ok(name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Choice, String> {
        Choice::parse(
            &line
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn all_steps_run_unless_some_are_chosen() {
        let all = parse("").unwrap();
        assert!(STEPS.iter().all(|step| all.wants(step.name)));
        let some = parse("--only tidy --only fmt").unwrap();
        let wanted: Vec<_> = STEPS
            .iter()
            .filter(|step| some.wants(step.name))
            .map(|step| step.name)
            .collect();
        assert_eq!(wanted, ["tidy", "fmt"]);
    }

    #[test]
    fn without_the_browser_its_tests_alone_are_left_out() {
        let choice = parse("--skip browser").unwrap();
        assert!(choice.wants("machine") && choice.wants("test"));
        let names = browser_tests().unwrap();
        let alone = names
            .iter()
            .find(|name| *name == "rig::the_keyboard_alone_is_enough");
        assert!(alone.is_some(), "{names:?}");
        // A test is skipped by its full name, so that no other test is skipped with it.
        for name in &names {
            let (module, test) = name.split_once("::").unwrap();
            assert!(!module.is_empty() && test.len() > 10, "{name}");
        }
        assert!(names.len() >= 18, "{names:?}");
    }

    #[test]
    fn packages_of_node_and_of_python_are_left_out_one_by_one() {
        let wants = |line: &str| ["npm", "oracle"].map(|step| parse(line).unwrap().wants(step));
        assert_eq!(wants("--skip npm"), [false, true]);
        assert_eq!(wants("--skip oracle"), [true, false]);
    }

    #[test]
    fn arguments_for_cargo_test_pass_through() {
        let choice = parse("--only test -- -p selfsame-did -- --nocapture").unwrap();
        assert_eq!(
            choice.cargo_test.unwrap(),
            ["-p", "selfsame-did", "--", "--nocapture"]
        );
    }

    #[test]
    fn an_unknown_step_is_refused() {
        assert!(parse("--only nothing").is_err());
        assert!(parse("--only").is_err());
        assert!(parse("everything").is_err());
    }
}
