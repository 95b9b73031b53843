//! The deliveries of one endpoint that are in memory: the oldest pending ones, in order.

use std::collections::{BTreeMap, HashSet};

use selfsame_crypto::time::UnixTime;

use crate::delivery::Delivery;

/// The maximum number of deliveries in memory.
pub(crate) const WINDOW_MAX: usize = 1_024;

/// A delivery as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Its place in the order.
    pub seq: u64,
    /// The id of its message, which is that of its record.
    pub id: String,
    /// The version of its record.
    pub version: u64,
    pub delivery: Delivery,
}

/// The oldest pending deliveries of an endpoint.
#[derive(Default)]
pub(crate) struct Window {
    pending: BTreeMap<u64, Pending>,
    under_way: HashSet<u64>,
}

impl Window {
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn room(&self) -> usize {
        WINDOW_MAX.saturating_sub(self.pending.len())
    }

    /// Adds a delivery, or renews one that is not being sent.
    pub fn add(&mut self, pending: Pending) {
        if !self.under_way.contains(&pending.seq) {
            self.pending.insert(pending.seq, pending);
        }
    }

    /// Takes up to `most` deliveries to send: of the oldest of each subject, those that are due.
    pub fn take_due(&mut self, now: UnixTime, most: usize) -> Vec<Pending> {
        let (mut subjects, mut due) = (HashSet::new(), Vec::new());
        for pending in self.pending.values() {
            if due.len() >= most {
                break;
            }
            let is_head = subjects.insert(pending.delivery.told.subject.as_str());
            if is_head && pending.delivery.next <= now && !self.under_way.contains(&pending.seq) {
                due.push(pending.clone());
            }
        }
        self.under_way.extend(due.iter().map(|pending| pending.seq));
        due
    }

    /// Removes a delivery that has ended.
    pub fn end(&mut self, seq: u64) {
        self.under_way.remove(&seq);
        self.pending.remove(&seq);
    }

    /// Puts a delivery back that is sent again later.
    pub fn put_back(&mut self, pending: Pending) {
        self.under_way.remove(&pending.seq);
        self.pending.insert(pending.seq, pending);
    }

    /// Makes all deliveries due, because the receiver responds again.
    pub fn make_due(&mut self, now: UnixTime) {
        for pending in self.pending.values_mut() {
            pending.delivery.next = pending.delivery.next.min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::ToldEvent;
    use crate::event_type::EventType;

    fn pending(seq: u64, subject: &str) -> Pending {
        let told = ToldEvent {
            event_type: EventType::CredentialIssued,
            subject: subject.to_owned(),
            at: UnixTime(0),
            cursor: None,
            notice: None,
            trace: None,
        };
        Pending {
            seq,
            id: seq.to_string(),
            version: 0,
            delivery: told.to("e", UnixTime(0)),
        }
    }

    fn window(subjects: &[&str]) -> Window {
        let mut window = Window::default();
        for (seq, subject) in (1..).zip(subjects) {
            window.add(pending(seq, subject));
        }
        window
    }

    fn due(window: &mut Window) -> Vec<u64> {
        let due = window.take_due(UnixTime(0), 9);
        due.iter().map(|pending| pending.seq).collect()
    }

    #[test]
    fn of_each_subject_one_delivery_is_sent_at_a_time_in_order() {
        let mut window = window(&["a", "a", "b", "a"]);
        assert_eq!(due(&mut window), [1, 3]);
        window.end(1);
        assert_eq!(due(&mut window), [2]);
        window.end(3);
        window.end(2);
        assert_eq!(due(&mut window), [4]);
    }

    #[test]
    fn a_delivery_that_waits_holds_back_its_subject_and_no_other() {
        let mut window = window(&["a", "a", "b"]);
        let mut first = window.take_due(UnixTime(0), 1).remove(0);
        first.delivery.next = UnixTime(60);
        window.put_back(first);
        assert_eq!(due(&mut window), [3]);
        window.make_due(UnixTime(0));
        assert_eq!(due(&mut window), [1]);
    }
}
