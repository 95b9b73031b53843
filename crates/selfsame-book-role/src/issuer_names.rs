//! The names of the issuers of a book, as far as they were read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use selfsame_book::number;

/// The number of names of a book that are kept in memory.
const NAMES_MAX: usize = 1_000;

/// The issuers of a book that were found so far, by their numbers. A number is always that of the same name.
#[derive(Default)]
pub(crate) struct IssuerNames(Mutex<HashMap<i64, String>>);

impl IssuerNames {
    /// The name of this number.
    pub fn of(&self, number: i64) -> Option<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&number).cloned()
    }

    /// Remembers a name.
    pub fn note(&self, id: &str) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        names.insert(number::issuer(id), id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_numbers_and_bounded() {
        let names = IssuerNames::default();
        let last = format!("did:example:{NAMES_MAX}");
        for one in 0..=NAMES_MAX {
            names.note(&format!("did:example:{one}"));
        }
        assert_eq!(names.of(number::issuer(&last)), Some(last));
        assert_eq!(names.of(7), None);
        assert!(names.0.lock().unwrap().len() <= NAMES_MAX);
    }
}
