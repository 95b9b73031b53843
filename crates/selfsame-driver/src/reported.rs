//! What a program reports of an error, whichever crate it is from: who must act, what went wrong, and what to do.

use crate::{Error, ErrorKind};

/// Who must act on an error. A program ends with an exit code for each of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhoActs {
    /// Others, such as the operators of a network's nodes: what they answer is not what was asked for.
    Others,
    /// The caller: the input, this machine or the way to others is wrong.
    Caller,
    /// The authors of this program.
    Authors,
}

/// An error that a program can report.
pub trait Reported {
    /// Who must act.
    fn who(&self) -> WhoActs;

    /// What went wrong.
    fn message(&self) -> String;

    /// What those who must act can do, if that is known.
    fn what_to_do(&self) -> Option<&str>;
}

impl Reported for Error {
    fn who(&self) -> WhoActs {
        match self.kind {
            ErrorKind::Internal => WhoActs::Authors,
            _ => WhoActs::Caller,
        }
    }

    fn message(&self) -> String {
        self.reason.clone()
    }

    fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl Reported for std::io::Error {
    fn who(&self) -> WhoActs {
        WhoActs::Caller
    }

    fn message(&self) -> String {
        self.to_string()
    }

    fn what_to_do(&self) -> Option<&str> {
        None
    }
}
