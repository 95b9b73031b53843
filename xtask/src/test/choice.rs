//! The options of `cargo xtask test`.

use super::step_names;

/// The options of the command line.
#[derive(Debug, Default, PartialEq)]
pub struct Choice {
    pub help: bool,
    pub only: Vec<String>,
    pub skip: Vec<String>,
    /// The steps too that a release needs, and a change hardly ever breaks.
    pub longer: bool,
    /// Only what a change can have broken.
    pub changed: bool,
    /// The revision to compare the change with.
    pub since: Option<String>,
    /// Arguments for `cargo test` that replace ours.
    pub cargo_test: Option<Vec<String>>,
}

impl Choice {
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--help" | "-h" => choice.help = true,
                "--only" => choice.only.push(step_name(arguments.next())?),
                "--skip" => choice.skip.push(step_name(arguments.next())?),
                "--changed" => choice.changed = true,
                "--longer" => choice.longer = true,
                "--since" => choice.since = Some(revision(arguments.next())?),
                "--" => choice.cargo_test = Some(arguments.by_ref().cloned().collect()),
                other => {
                    return Err(format!(
                        "unknown argument {other}\nhint: cargo xtask test --help"
                    ));
                }
            }
        }
        if choice.since.is_some() && !choice.changed {
            return Err("--since belongs to --changed\nhint: cargo xtask test --help".to_owned());
        }
        if choice.changed && choice.cargo_test.is_some() {
            return Err(
                "--changed chooses the tests itself\nhint: leave out it, or what follows `--`"
                    .to_owned(),
            );
        }
        Ok(choice)
    }

    /// The command that runs one step again.
    pub fn again(&self, step: &str) -> String {
        let since = self.since.iter().map(|since| format!(" --since {since}"));
        let changed = match self.changed {
            true => format!(" --changed{}", since.collect::<String>()),
            false => String::new(),
        };
        format!("cargo xtask test{changed} --only {step}")
    }

    pub fn wants(&self, step: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|name| name == step)) && !self.skips(step)
    }

    /// Whether a run of everything does without this step.
    pub fn leaves_out(&self, step: &str) -> bool {
        let is_whole = self.only.is_empty() && !self.changed && !self.longer;
        is_whole && (step == "doc" || (step == "clippy" && !self.skips("test")))
    }

    pub fn skips(&self, step: &str) -> bool {
        self.skip.iter().any(|name| name == step)
    }
}

fn revision(argument: Option<&String>) -> Result<String, String> {
    argument
        .filter(|revision| !revision.starts_with('-'))
        .cloned()
        .ok_or_else(|| "--since wants a revision\nhint: cargo xtask test --help".to_owned())
}

fn step_name(argument: Option<&String>) -> Result<String, String> {
    let known = |name: &&String| {
        name.as_str() == "browser" || step_names().any(|step| step == name.as_str())
    };
    let name = argument
        .filter(known)
        .ok_or("this flag wants the name of a step\nhint: cargo xtask test --help")?;
    Ok(name.clone())
}
