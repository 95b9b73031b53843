//! What a program reports of an error, whichever crate it is from: who must act, what went wrong, and what to do.

use crate::{Error, ErrorKind, Reason};

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
    fn reason(&self) -> Reason;

    /// What those who must act can do, if the error knows that and the catalogue does not.
    fn what_to_do(&self) -> Option<String> {
        None
    }
}

impl Reported for Error {
    fn who(&self) -> WhoActs {
        match self.kind {
            ErrorKind::Internal => WhoActs::Authors,
            _ => WhoActs::Caller,
        }
    }

    fn reason(&self) -> Reason {
        self.reason.clone()
    }
}

impl Reported for std::io::Error {
    fn who(&self) -> WhoActs {
        WhoActs::Caller
    }

    fn reason(&self) -> Reason {
        Reason::new("rule-broken").with("detail", self)
    }
}
