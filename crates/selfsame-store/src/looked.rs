//! The results of checking a file.

use crate::error::Result;

/// The number of damages of one kind that are described; further ones are counted only.
const TOLD: usize = 20;

/// The result of checking one part of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Looked {
    /// The name of the part.
    pub what: &'static str,
    /// The number of items checked.
    pub seen: u64,
    /// Descriptions of the first damages, for the operator.
    pub damage: Vec<String>,
    /// The number of further damages.
    pub untold: u64,
    /// Why the part was not checked, or not completely.
    pub note: Option<&'static str>,
}

/// Progress callback: the part being checked, and the number of items checked.
pub type Tell<'a> = &'a (dyn Fn(&'static str, u64) + Send + Sync);

impl Looked {
    /// An empty result.
    #[must_use]
    pub fn at(what: &'static str) -> Self {
        Self {
            what,
            ..Self::default()
        }
    }

    /// The result for a part that was not checked.
    #[must_use]
    pub fn not(what: &'static str, why: &'static str) -> Self {
        Self {
            note: Some(why),
            ..Self::at(what)
        }
    }

    /// Runs a check. An error that stops it counts as damage.
    pub fn through(what: &'static str, look: impl FnOnce(&mut Self) -> Result<()>) -> Self {
        let mut looked = Self::at(what);
        if let Err(error) = look(&mut looked) {
            looked.wrong(format!("it can't be read to its end: {error}"));
        }
        looked
    }

    /// Counts one item.
    pub fn one(&mut self, tell: Tell<'_>) {
        self.seen = self.seen.saturating_add(1);
        if self.seen.is_multiple_of(64) {
            tell(self.what, self.seen);
        }
    }

    /// Records a damage.
    pub fn wrong(&mut self, what: impl Into<String>) {
        match self.damage.len() < TOLD {
            true => self.damage.push(what.into()),
            false => self.untold = self.untold.saturating_add(1),
        }
    }

    /// Records that something sealed does not open.
    pub fn unopened(&mut self, what: &str) {
        self.wrong(format!("{what} does not open with the master key"));
    }

    /// Whether no damage was found.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
}
