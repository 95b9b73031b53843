//! Who is connected to this process, and is woken when an envelope begins to wait, whichever process took it.
//!
//! The commit of an envelope tells an event that names its mailbox. One task of this process follows the events as long
//! as anybody is connected, and wakes those whose mailbox is named.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfsame_core::Shared;
use selfsame_core::events::{EventKind, EventReader};
use selfsame_driver::Result;
use selfsame_store::TenantId;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::mailbox::Mailbox;

/// How often the follower looks whether anybody is still connected.
const LOOKED_EVERY: Duration = Duration::from_secs(10);

/// The peers that are connected to this process. Clones are the same.
#[derive(Clone)]
pub struct Presences(Arc<PresenceParts>);

struct PresenceParts {
    shared: Arc<Shared>,
    /// Whether the events are followed.
    is_followed: tokio::sync::Mutex<bool>,
    seats: Mutex<Seats>,
}

#[derive(Default)]
struct Seats {
    /// How many peers are connected, or about to be.
    open: usize,
    /// Who is woken for which mailbox.
    woken: HashMap<String, Vec<Arc<Notify>>>,
    /// The envelopes that are being handed out.
    handed: HashSet<String>,
}

/// A peer is connected until this is dropped.
pub struct Presence {
    all: Presences,
    wake: Arc<Notify>,
    mailboxes: Vec<String>,
}

/// An envelope is being handed out by this process, and by no other line of it, until this is dropped.
pub struct Handing {
    all: Presences,
    id: String,
    mailbox: String,
}

impl Presences {
    /// The peers that are connected to this process.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self(Arc::new(PresenceParts {
            shared,
            is_followed: tokio::sync::Mutex::new(false),
            seats: Mutex::default(),
        }))
    }

    /// A peer connects.
    ///
    /// # Errors
    /// The store's.
    pub async fn open(&self) -> Result<Presence> {
        let mut is_followed = self.0.is_followed.lock().await;
        if !*is_followed {
            let reader = self.0.shared.events.reader().await?;
            tokio::spawn(self.clone().follow(reader));
            *is_followed = true;
        }
        let mut seats = self.seats();
        seats.open = seats.open.saturating_add(1);
        drop(seats);
        Ok(Presence {
            all: self.clone(),
            wake: Arc::default(),
            mailboxes: Vec::new(),
        })
    }

    /// Begins to hand an envelope out; `None` if another line of this process does.
    pub fn hand(&self, id: &str, tenant: &TenantId, mailbox: &Mailbox) -> Option<Handing> {
        let is_free = self.seats().handed.insert(id.to_owned());
        is_free.then(|| Handing {
            all: self.clone(),
            id: id.to_owned(),
            mailbox: mailbox.told(tenant),
        })
    }

    async fn follow(self, mut reader: EventReader) {
        loop {
            match timeout(LOOKED_EVERY, reader.next()).await {
                Ok(Some(event)) if event.kind == EventKind::EnvelopeQueued => {
                    self.wake(Some(&event.id));
                }
                Ok(Some(_)) => {}
                // Events were missed.
                Ok(None) => self.wake(None),
                Err(_quiet) => {}
            }
            if self.seats().open > 0 {
                continue;
            }
            let mut is_followed = self.0.is_followed.lock().await;
            if self.seats().open == 0 {
                *is_followed = false;
                return;
            }
        }
    }

    /// Wakes those who wait for this mailbox; all, if none is named.
    fn wake(&self, mailbox: Option<&str>) {
        let seats = self.seats();
        match mailbox {
            Some(mailbox) => {
                let woken = seats.woken.get(mailbox).into_iter().flatten();
                woken.for_each(|one| one.notify_one());
            }
            None => seats
                .woken
                .values()
                .flatten()
                .for_each(|one| one.notify_one()),
        }
    }

    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.0.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Presence {
    /// From now on it is woken for this mailbox.
    pub fn watch(&mut self, tenant: &TenantId, mailbox: &Mailbox) {
        let told = mailbox.told(tenant);
        if self.mailboxes.contains(&told) {
            return;
        }
        let mut seats = self.all.seats();
        let woken = seats.woken.entry(told.clone()).or_default();
        woken.push(self.wake.clone());
        drop(seats);
        self.mailboxes.push(told);
    }

    /// Waits until something may wait in its mailboxes. What came since the last wait counts.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut seats = self.all.seats();
        seats.open = seats.open.saturating_sub(1);
        for mailbox in &self.mailboxes {
            let Some(woken) = seats.woken.get_mut(mailbox) else {
                continue;
            };
            woken.retain(|one| !Arc::ptr_eq(one, &self.wake));
            if woken.is_empty() {
                seats.woken.remove(mailbox);
            }
        }
    }
}

impl Drop for Handing {
    fn drop(&mut self) {
        self.all.seats().handed.remove(&self.id);
        // It may wait on, and another line of its peer may be open.
        self.all.wake(Some(&self.mailbox));
    }
}
