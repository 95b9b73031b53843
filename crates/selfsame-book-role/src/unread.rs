//! Records of the instance that can't be read: another version of the program wrote them, or they are damaged.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use selfsame_driver::Result;
use selfsame_store::Record;

/// The number of records of which it is remembered that they were logged.
const LOGGED_MAX: usize = 1_000;

/// Which records that can't be read were logged. They are looked at again and again.
#[derive(Default)]
pub(crate) struct UnreadRecords(Mutex<HashSet<String>>);

impl UnreadRecords {
    /// What `read` makes of these records of a kind. One that can't be read is left out, so that it does not hold up the
    /// others. It stays, and is logged once.
    pub fn without<T>(
        &self,
        kind: &str,
        records: &[Record],
        read: impl Fn(&Record) -> Result<T>,
    ) -> Vec<T> {
        let read = records.iter().filter_map(|record| {
            let read = read(record);
            read.inspect_err(|error| {
                if self.is_new(kind, &record.id) {
                    tracing::error!(kind, record = record.id, %error, "a record of credential books can't be read, and is passed over");
                }
            })
            .ok()
        });
        read.collect()
    }

    fn is_new(&self, kind: &str, id: &str) -> bool {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.len() >= LOGGED_MAX {
            logged.clear();
        }
        logged.insert(format!("{kind}/{id}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_cant_be_read_is_logged_once() {
        let unread = UnreadRecords::default();
        assert!(unread.is_new("book_due", "a"));
        assert!(!unread.is_new("book_due", "a"));
        assert!(unread.is_new("book-registry", "a"));
        for number in 0..LOGGED_MAX {
            unread.is_new("book_due", &number.to_string());
        }
        assert!(unread.0.lock().unwrap().len() <= LOGGED_MAX);
    }
}
