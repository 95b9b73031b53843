//! Limits the answers to one request that are verified at once: anyone who knows the request can send any number.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_driver::{Error, ErrorKind, Result};

/// Maximum number of answers to one request verified at once.
const AT_ONCE: usize = 4;

/// The number of answers being verified, by request.
#[derive(Debug, Default)]
pub(super) struct Judging(Mutex<HashMap<String, usize>>);

/// A place for one answer, freed when dropped.
#[derive(Debug)]
pub(super) struct JudgingPlace<'a> {
    judging: &'a Judging,
    id: &'a str,
}

impl Judging {
    /// Takes a place for an answer to this request.
    ///
    /// # Errors
    /// `TooMany` if all places are taken.
    pub fn enter<'a>(&'a self, id: &'a str) -> Result<JudgingPlace<'a>> {
        let mut counts = self.counts();
        let count = counts.entry(id.to_owned()).or_default();
        if *count >= AT_ONCE {
            return Err(Error::new(
                ErrorKind::TooMany { retry_after: 1 },
                "answers-in-judgement",
            ));
        }
        *count = count.saturating_add(1);
        Ok(JudgingPlace { judging: self, id })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for JudgingPlace<'_> {
    fn drop(&mut self) {
        let mut counts = self.judging.counts();
        match counts.get_mut(self.id) {
            Some(count) if *count > 1 => *count = count.saturating_sub(1),
            _ => drop(counts.remove(self.id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_answers_to_one_request_are_judged_at_once_and_places_come_back() {
        let judging = Judging::default();
        let mut places: Vec<_> = (0..AT_ONCE).map(|_| judging.enter("a").unwrap()).collect();
        let refused = judging.enter("a").unwrap_err();
        assert_eq!(refused.kind, ErrorKind::TooMany { retry_after: 1 });
        assert!(judging.enter("b").is_ok());
        places.pop();
        assert!(judging.enter("a").is_ok());
        drop(places);
        assert!(judging.counts().is_empty());
    }
}
