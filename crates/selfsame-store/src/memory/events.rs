//! The events in memory.

use std::collections::BTreeMap;

use selfsame_crypto::time::UnixTime;

use super::page;
use crate::backend::{EVENT_SECONDS, EVENTS_MAX, Place, StoredEvent};
use crate::record::Window;

#[derive(Debug, Default)]
pub(super) struct Events(BTreeMap<u64, StoredEvent>);

impl Events {
    pub(super) fn tell(&mut self, place: Place, stamp: u64, at: UnixTime) {
        let seq = self.0.last_key_value().map_or(1, |(last, _)| last + 1);
        let event = StoredEvent {
            place,
            at,
            seq,
            stamp,
        };
        self.0.insert(seq, event);
        if self.0.len() as u64 > EVENTS_MAX {
            self.0.pop_first();
        }
    }

    pub(super) fn page(&self, window: Window) -> Vec<StoredEvent> {
        let admitted = page(&self.0, window).into_iter();
        admitted.take(window.limit).cloned().collect()
    }

    pub(super) fn purge(&mut self, now: UnixTime, limit: usize) -> usize {
        let before = now.minus(EVENT_SECONDS);
        let mut oldest = self.0.values().take(limit);
        let last_old = oldest.rfind(|event| event.at < before);
        let newest = self.0.last_key_value().map_or(0, |(newest, _)| *newest);
        let end = last_old.map_or(0, |old| old.seq.saturating_add(1).min(newest));
        let kept = self.0.split_off(&end);
        std::mem::replace(&mut self.0, kept).len()
    }
}
