//! The client's tickets: bounded, each used once, each only for the configuration it was got with.

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

/// The most tickets kept of one configuration, so that one server does not drive out all others.
const MAX_EACH: usize = 8;

/// The tickets of a client. Clones share them.
#[derive(Clone)]
pub struct Sessions {
    kept: Arc<Mutex<Kept>>,
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

/// The tickets, the oldest first, each by the configuration it is of.
type Kept = VecDeque<([u8; 32], Session)>;

/// A ticket, and what the client knows of the server that gave it.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) suite: Suite,
    pub(crate) secret: Block,
    pub(crate) ticket: Vec<u8>,
    pub(crate) age_add: u32,
    pub(crate) received_at: UnixTime,
    pub(crate) until: UnixTime,
    pub(crate) verified_at: UnixTime,
    pub(crate) epoch: u64,
    /// The application protocol it was got with.
    pub(crate) protocol: Option<Vec<u8>>,
    /// Bytes of early data that may go along.
    pub(crate) early: u32,
    pub(crate) peer: Peer,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session(secret)")
    }
}

impl Session {
    pub(crate) fn cipher(&self) -> Option<Cipher> {
        Cipher::new(self.suite)
    }

    /// The ticket's age as it is sent (RFC 8446 §4.2.11.1).
    pub(crate) fn obfuscated_age(&self, now: UnixTime) -> u32 {
        let milliseconds = now.seconds_since(self.received_at).saturating_mul(1000);
        let milliseconds = u32::try_from(milliseconds).unwrap_or(u32::MAX);
        milliseconds.wrapping_add(self.age_add)
    }
}

impl Sessions {
    /// A place for as many as `most` tickets; the oldest goes first.
    pub fn new(most: usize) -> Self {
        Self {
            kept: Arc::default(),
            most,
        }
    }

    /// The tickets that are kept.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all tickets.
    pub fn clear(&self) {
        self.lock().clear();
    }

    /// The newest ticket of this configuration. A ticket is given out once, or connections could be told to be of one
    /// client (appendix C.4).
    pub(crate) fn take(&self, key: &[u8; 32], now: UnixTime) -> Option<Session> {
        let mut kept = self.lock();
        kept.retain(|(_, session)| session.until > now);
        let at = kept.iter().rposition(|(of, _)| of == key)?;
        kept.remove(at).map(|(_, session)| session)
    }

    pub(crate) fn insert(&self, key: [u8; 32], session: Session) {
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

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the tickets of one connection.
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
    /// Keeps a ticket of `peer`, for as long as it says, what was proved lasts, and seven days.
    pub(crate) fn keep(&self, ticket: Ticket, peer: &Peer, now: UnixTime) -> Result<(), Refusal> {
        let lifetime = u64::from(ticket.lifetime).min(MAX_LIFETIME);
        let Some(end) = until(peer, self.verified_at, now).filter(|_| lifetime > 0) else {
            return Ok(());
        };
        let early = ticket.extensions.max_early_data();
        let session = Session {
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
