//! The last known head of a ledger. Each head that is read is compared with it, as nothing else shows whether its bits
//! are intact.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of heads without a known storage result that may still appear.
const DUE_MAX: usize = 8;

/// The possible values of the newest head. Clones share their state.
#[derive(Clone, Debug)]
pub struct Newest(Arc<Mutex<Heads>>);

#[derive(Debug)]
struct Heads {
    /// The head at the last read; `None` before the first block.
    last: Option<Vec<u8>>,
    /// The heads handed to the store since then.
    due: VecDeque<Vec<u8>>,
}

impl Newest {
    /// The state for a ledger just opened, with its head.
    #[must_use]
    pub fn of(last: Option<Vec<u8>>) -> Self {
        Self(Arc::new(Mutex::new(Heads {
            last,
            due: VecDeque::new(),
        })))
    }

    /// Records that this head is being handed to the store.
    pub fn may_become(&self, head: &[u8]) {
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if heads.due.len() == DUE_MAX {
            heads.due.pop_front();
        }
        heads.due.push_back(head.to_vec());
    }

    /// Reads the head and compares it with the possible ones.
    ///
    /// # Errors
    /// `wrong` if the head is not a possible one; errors of `read`.
    pub fn read<E>(
        &self,
        read: impl Fn() -> Result<Option<Vec<u8>>, E>,
        wrong: impl FnOnce() -> E,
    ) -> Result<Option<Vec<u8>>, E> {
        let found = read()?;
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if heads.accept(found.as_deref()) {
            return Ok(found);
        }
        // Another head may have been stored after the read, and been seen by another thread. The lock excludes that
        // now.
        let found = read()?;
        match heads.accept(found.as_deref()) {
            true => Ok(found),
            false => Err(wrong()),
        }
    }
}

impl Heads {
    fn accept(&mut self, found: Option<&[u8]>) -> bool {
        if self.last.as_deref() == found {
            return true;
        }
        let due = self
            .due
            .iter()
            .position(|due| Some(due.as_slice()) == found);
        if let Some(place) = due {
            self.due.drain(..=place);
            self.last = found.map(<[u8]>::to_vec);
        }
        due.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(newest: &Newest, head: Option<&str>) -> bool {
        let head = head.map(|head| head.as_bytes().to_vec());
        newest.read(|| Ok(head.clone()), || "another").is_ok()
    }

    #[test]
    fn a_head_is_what_was_opened_or_what_was_handed_to_the_store_since() {
        let newest = Newest::of(None);
        assert!(seen(&newest, None) && !seen(&newest, Some("one")));
        newest.may_become(b"one");
        assert!(seen(&newest, None), "it is not stored yet");
        assert!(seen(&newest, Some("one")) && !seen(&newest, Some("onf")));
        assert!(!seen(&newest, None), "it was set back");
    }

    #[test]
    fn a_head_that_came_to_no_answer_may_turn_up_later() {
        let newest = Newest::of(Some(b"one".to_vec()));
        newest.may_become(b"late");
        newest.may_become(b"two");
        assert!(seen(&newest, Some("one")) && seen(&newest, Some("late")));
        let many = Newest::of(None);
        (0..100).for_each(|n| many.may_become(format!("{n}").as_bytes()));
        assert!(seen(&many, Some("99")) && !seen(&many, Some("3")));
    }

    #[test]
    fn one_that_was_read_before_another_was_stored_is_no_damage() {
        let newest = Newest::of(Some(b"one".to_vec()));
        newest.may_become(b"two");
        assert!(seen(&newest, Some("two")));
        let first = std::cell::Cell::new(true);
        let read = || {
            let head = if first.replace(false) { "one" } else { "two" };
            Ok(Some(head.as_bytes().to_vec()))
        };
        let late = newest.read(read, || "another");
        assert_eq!(late.unwrap(), Some(b"two".to_vec()));
    }
}
