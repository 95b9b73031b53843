//! The server's ticket keys. A ticket contains its whole state, sealed, so the server stores nothing for it.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use selfsame_crypto::seal::SealingKey;

use super::MAX_LIFETIME;
use super::ticket::Ticketed;

/// The purpose and the format version, bound into each sealed ticket.
const PURPOSE: &[u8] = b"selfsame tls ticket v3";

/// The keys that seal tickets, and how many tickets are issued for how long. Clones share the keys, and processes with
/// the same keys accept each other's tickets.
#[derive(Clone)]
pub struct TicketKeys {
    keys: Arc<RwLock<TicketKeySet>>,
    pub(crate) lifetime: u64,
    pub(crate) count: u8,
}

struct TicketKeySet {
    current: SealingKey,
    previous: Option<SealingKey>,
}

impl fmt::Debug for TicketKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketKeys")
            .field("lifetime", &self.lifetime)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl TicketKeys {
    /// Seals with this secret random key: two tickets per handshake, valid for a day each.
    pub fn new(key: [u8; 32]) -> Self {
        Self {
            keys: Arc::new(RwLock::new(TicketKeySet {
                current: SealingKey::from_bytes(key),
                previous: None,
            })),
            lifetime: 86_400,
            count: 2,
        }
    }

    /// Sets the lifetime in seconds, at most seven days.
    #[must_use]
    pub fn for_seconds(self, lifetime: u64) -> Self {
        let lifetime = lifetime.min(MAX_LIFETIME);
        Self { lifetime, ..self }
    }

    /// Sets the number of tickets per handshake, at most four.
    #[must_use]
    pub fn of_count(self, count: u8) -> Self {
        let count = count.min(u8::try_from(MAX_TICKETS).unwrap_or(0));
        Self { count, ..self }
    }

    /// Seals with this key from now on. Tickets sealed with the previous key are still accepted; those with older keys
    /// are not.
    pub fn rotate(&self, key: [u8; 32]) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut keys.current, SealingKey::from_bytes(key));
        keys.previous = Some(before);
    }

    pub(crate) fn seal(&self, ticket: &Ticketed, nonce: [u8; 12]) -> Option<Vec<u8>> {
        let plain = ticket.write()?;
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        keys.current.seal(nonce, PURPOSE, &plain).ok()
    }

    /// Opens a ticket sealed by us.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Ticketed> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let mut both = std::iter::once(&keys.current).chain(&keys.previous);
        let plain = both.find_map(|key| key.open(PURPOSE, sealed).ok())?;
        Ticketed::read(&zeroize::Zeroizing::new(plain))
    }
}

/// Maximum number of tickets per handshake.
pub(crate) const MAX_TICKETS: usize = 4;
