//! Errors: what went wrong with a network, and who must act.

use std::fmt;

use selfsame_catalogue::{Language, Refused, sentence};
use selfsame_driver::{Error, Reason, Reported, WhoActs};

/// What went wrong, who must act, and what they can do about it.
#[derive(Debug)]
pub struct NetworkError {
    who: WhoActs,
    message: String,
    hint: Option<String>,
}

impl NetworkError {
    /// The nodes' answers say no.
    pub fn no(message: impl Into<String>) -> Self {
        Self::of(WhoActs::Others, message)
    }

    /// The input or the environment is wrong.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::of(WhoActs::Caller, message)
    }

    /// An error of this program.
    pub fn ours(message: impl Into<String>) -> Self {
        Self::of(WhoActs::Authors, message)
    }

    /// Who must act.
    #[must_use]
    pub fn who(&self) -> WhoActs {
        self.who
    }

    /// What went wrong.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What those who must act can do, if that is known.
    #[must_use]
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Adds where it went wrong before the message.
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Sets what can be done.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets what can be done, unless that is already set.
    #[must_use]
    pub fn or_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    fn of(who: WhoActs, message: impl Into<String>) -> Self {
        Self {
            who,
            message: message.into(),
            hint: None,
        }
    }
}

impl Reported for NetworkError {
    fn who(&self) -> WhoActs {
        self.who
    }

    fn reason(&self) -> Reason {
        Reason::text(&self.message)
    }

    fn what_to_do(&self) -> Option<String> {
        self.hint.clone()
    }
}

impl From<Error> for NetworkError {
    fn from(error: Error) -> Self {
        let told = sentence(Language::English, &error.reason);
        Self {
            who: error.who(),
            message: told.text,
            hint: told.hint,
        }
    }
}

impl From<Refused> for NetworkError {
    fn from(refused: Refused) -> Self {
        Self {
            who: refused.who(),
            message: refused.reason().to_string(),
            hint: refused.what_to_do(),
        }
    }
}

impl From<std::io::Error> for NetworkError {
    fn from(error: std::io::Error) -> Self {
        Self::environment(error.to_string())
    }
}

impl std::error::Error for NetworkError {}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
