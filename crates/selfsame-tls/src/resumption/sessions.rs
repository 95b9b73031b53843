//! The client's ticket store: bounded; each ticket is used once, and only for the configuration that received it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;

use super::{MAX_LIFETIME, until};
use crate::alert::Refusal;
use crate::codec::Ticket;
use crate::identity::Peer;
use crate::named::Suite;
use crate::provider::{Block, Cipher};
use crate::schedule::Resumption;

/// Maximum number of tickets per configuration, so that one server does not displace all others.
const MAX_EACH: usize = 8;

/// The ticket store of a client. Clones share it.
#[derive(Clone)]
pub struct Sessions {
    kept: Arc<Mutex<KeptTickets>>,
    most: usize,
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("kept", &self.len())
            .field("most", &self.most)
            .finish()
    }
}

/// The tickets, the oldest first, each with the digest of its configuration.
type KeptTickets = VecDeque<([u8; 32], TicketSession)>;

/// A ticket, and what the client knows about the server that issued it.
#[derive(Clone)]
pub(crate) struct TicketSession {
    pub(crate) suite: Suite,
    pub(crate) secret: Block,
    pub(crate) ticket: Vec<u8>,
    pub(crate) age_add: u32,
    pub(crate) received_at: UnixTime,
    pub(crate) until: UnixTime,
    pub(crate) verified_at: UnixTime,
    pub(crate) epoch: u64,
    /// The application protocol of the connection that received it.
    pub(crate) protocol: Option<Vec<u8>>,
    /// Maximum bytes of early data.
    pub(crate) early: u32,
    pub(crate) peer: Peer,
}

impl fmt::Debug for TicketSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session(secret)")
    }
}

impl TicketSession {
    pub(crate) fn cipher(&self) -> Option<Cipher> {
        Cipher::new(self.suite)
    }

    /// The ticket's age as sent (RFC 8446 §4.2.11.1).
    pub(crate) fn obfuscated_age(&self, now: UnixTime) -> u32 {
        let milliseconds = now.seconds_since(self.received_at).saturating_mul(1000);
        let milliseconds = u32::try_from(milliseconds).unwrap_or(u32::MAX);
        milliseconds.wrapping_add(self.age_add)
    }
}

impl Sessions {
    /// A store for at most `most` tickets; the oldest is dropped first.
    pub fn new(most: usize) -> Self {
        Self {
            kept: Arc::default(),
            most,
        }
    }

    /// The number of stored tickets.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether no ticket is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all tickets.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// Removes and returns the newest ticket of this configuration. Each ticket is used once, otherwise connections
    /// could be linked to one client (appendix C.4).
    pub(crate) fn take(&self, key: &[u8; 32], now: UnixTime) -> Option<TicketSession> {
        let mut kept = self.lock();
        kept.retain(|(_, session)| session.until > now);
        let at = kept.iter().rposition(|(of, _)| of == key)?;
        kept.remove(at).map(|(_, session)| session)
    }

    pub(crate) fn insert(&self, key: [u8; 32], session: TicketSession) {
        let mut kept = self.lock();
        let same = kept.iter().filter(|(of, _)| *of == key).count();
        if same >= MAX_EACH
            && let Some(oldest) = kept.iter().position(|(of, _)| *of == key)
        {
            kept.remove(oldest);
        }
        kept.push_back((key, session));
        while kept.len() > self.most {
            kept.pop_front();
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptTickets> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores the tickets of one connection.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) sessions: Sessions,
    pub(crate) key: [u8; 32],
    pub(crate) secret: Resumption,
    pub(crate) epoch: u64,
    pub(crate) verified_at: UnixTime,
    pub(crate) protocol: Option<Vec<u8>>,
}

impl Collector {
    /// Stores a ticket from `peer`, until its lifetime ends, the proved identity expires, or seven days have passed.
    pub(crate) fn keep(&self, ticket: Ticket, peer: &Peer, now: UnixTime) -> Result<(), Refusal> {
        let lifetime = u64::from(ticket.lifetime).min(MAX_LIFETIME);
        let Some(end) = until(peer, self.verified_at, now).filter(|_| lifetime > 0) else {
            return Ok(());
        };
        let early = ticket.extensions.max_early_data();
        let session = TicketSession {
            suite: self.secret.cipher().suite(),
            secret: self.secret.secret(&ticket.nonce)?,
            ticket: ticket.ticket,
            age_add: ticket.age_add,
            received_at: now,
            until: end.min(now.plus(lifetime)),
            verified_at: self.verified_at,
            epoch: self.epoch,
            protocol: self.protocol.clone(),
            early: early.unwrap_or(0),
            peer: peer.clone(),
        };
        self.sessions.insert(self.key, session);
        Ok(())
    }
}
