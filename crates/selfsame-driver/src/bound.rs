//! Upper bounds in settings.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// An upper bound: a number above 0, or `"unlimited"`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "WrittenBound", into = "WrittenBound")]
pub struct Bound(Option<NonZeroU64>);

#[derive(Deserialize, Serialize)]
#[serde(untagged, expecting = "expected a number above 0 or \"unlimited\"")]
enum WrittenBound {
    Number(i64),
    Word(String),
}

const UNLIMITED: &str = "unlimited";

impl Bound {
    /// No bound: nothing is counted.
    pub const UNLIMITED: Self = Self(None);

    /// This bound; 0 means unlimited.
    #[must_use]
    pub const fn of(most: u64) -> Self {
        Self(NonZeroU64::new(most))
    }

    /// The bound; `None` if unlimited.
    #[must_use]
    pub fn most(self) -> Option<u64> {
        self.0.map(NonZeroU64::get)
    }
}

impl TryFrom<WrittenBound> for Bound {
    type Error = String;

    fn try_from(written: WrittenBound) -> Result<Self, String> {
        let most = match &written {
            WrittenBound::Word(word) if word == UNLIMITED => return Ok(Self::UNLIMITED),
            WrittenBound::Number(number) => u64::try_from(*number).ok().and_then(NonZeroU64::new),
            WrittenBound::Word(_) => None,
        };
        let refused = || match written {
            WrittenBound::Number(number) => format!("{number} is not above 0"),
            WrittenBound::Word(word) => {
                format!("\"{word}\" is neither a number nor \"{UNLIMITED}\"")
            }
        };
        let wanted = "set how much a person may keep, or \"unlimited\"";
        most.map(|most| Self(Some(most)))
            .ok_or_else(|| format!("{}: {wanted}", refused()))
    }
}

impl From<Bound> for WrittenBound {
    fn from(bound: Bound) -> Self {
        let number = |most| Self::Number(i64::try_from(most).unwrap_or(i64::MAX));
        let word = || Self::Word(UNLIMITED.to_owned());
        bound.most().map_or_else(word, number)
    }
}
