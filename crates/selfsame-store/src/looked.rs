//! What a look through a file has found.

use crate::error::Result;

/// So much damage of one kind is told in words; the rest is counted.
const TOLD: usize = 20;

/// What was found of one thing that can be damaged.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Looked {
    /// What was looked at.
    pub what: &'static str,
    /// How many of it.
    pub seen: u64,
    /// What is wrong, in words for the operator: the first of it.
    pub damage: Vec<String>,
    /// How much more is wrong.
    pub untold: u64,
    /// Why it was not looked at, or not as ever.
    pub note: Option<&'static str>,
}

/// Told what is looked at, and how many of it have been seen.
pub type Tell<'a> = &'a (dyn Fn(&'static str, u64) + Send + Sync);

impl Looked {
    /// Nothing was found yet.
    #[must_use]
    pub fn at(what: &'static str) -> Self {
        Self {
            what,
            ..Self::default()
        }
    }

    /// It was not looked at.
    #[must_use]
    pub fn not(what: &'static str, why: &'static str) -> Self {
        Self {
            note: Some(why),
            ..Self::at(what)
        }
    }

    /// What a look at all of it found; what keeps it from its end is damage too.
    pub fn through(what: &'static str, look: impl FnOnce(&mut Self) -> Result<()>) -> Self {
        let mut looked = Self::at(what);
        if let Err(error) = look(&mut looked) {
            looked.wrong(format!("it can't be read to its end: {error}"));
        }
        looked
    }

    /// One more was seen.
    pub fn one(&mut self, tell: Tell<'_>) {
        self.seen = self.seen.saturating_add(1);
        if self.seen.is_multiple_of(64) {
            tell(self.what, self.seen);
        }
    }

    /// Something is wrong.
    pub fn wrong(&mut self, what: impl Into<String>) {
        match self.damage.len() < TOLD {
            true => self.damage.push(what.into()),
            false => self.untold = self.untold.saturating_add(1),
        }
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
}
