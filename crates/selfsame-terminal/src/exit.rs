//! How a command ends: exit codes, and the one place that reports errors.

use std::process::ExitCode;

use selfsame_catalogue::{Language, sentence};
use selfsame_driver::{Reported, WhoActs};

use crate::output;

/// A command's answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Done, or valid: exit code 0.
    Yes,
    /// A negative answer, such as a credential that does not verify: exit code 1.
    No,
}

/// No answer: what went wrong, whose fault it is, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
    hint: Option<String>,
}

/// How a command ends.
pub type End = Result<Answer, Failure>;

impl Failure {
    /// The command line or the environment is wrong: exit code 2.
    pub fn environment(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            message: message.into(),
            hint: None,
        }
    }

    /// A negative answer, such as an expired object: exit code 1.
    pub fn no(message: impl Into<String>) -> Self {
        Self {
            code: 1,
            message: message.into(),
            hint: None,
        }
    }

    /// Our fault: exit code 3.
    pub fn ours(message: impl Into<String>) -> Self {
        Self {
            code: 3,
            message: message.into(),
            hint: None,
        }
    }

    /// Stopped by a signal: exit code 128 plus its number, as shells count.
    pub fn stopped(signal: &str, number: u8) -> Self {
        Self {
            code: number.saturating_add(128),
            message: format!("stopped by {signal}"),
            hint: None,
        }
    }

    /// The exit code.
    pub fn code(&self) -> u8 {
        self.code
    }

    /// What went wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the person can do, if that is known.
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Adds where it went wrong before the message.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Sets what the person can do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets what the person can do, unless that is already set.
    pub fn or_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }
}

impl<E: Reported> From<E> for Failure {
    fn from(error: E) -> Self {
        let code = match error.who() {
            WhoActs::Others => 1,
            WhoActs::Caller => 2,
            WhoActs::Authors => 3,
        };
        let told = sentence(Language::English, &error.reason());
        Self {
            code,
            message: told.text,
            hint: told.hint.or_else(|| error.what_to_do()),
        }
    }
}

/// Reports what went wrong on standard error, and returns the exit code.
pub fn report(end: End) -> ExitCode {
    match end {
        // `output` has already reported the lost output.
        Ok(_) if !output::is_complete() => ExitCode::from(2),
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => {
            output::complain(&format!("selfsame: {}", failure.message));
            if let Some(hint) = failure.what_to_do() {
                output::complain(&format!("hint: {hint}"));
            }
            ExitCode::from(failure.code())
        }
    }
}
