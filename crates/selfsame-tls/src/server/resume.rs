//! Resumption by a server: accepts a ticket if nothing has changed since (RFC 8446 §4.2.11), and issues new ones.

use selfsame_crypto::hash::ct_eq;
use selfsame_crypto::time::UnixTime;

use super::Sent;
use super::protocols::protocol;
use crate::alert::{Alert, Refusal};
use crate::codec::{ClientHello, Extension, Extensions, Message, OfferedPsks, Ticket};
use crate::config::ServerConfig;
use crate::core::Core;
use crate::identity::{Peer, PeerKind};
use crate::provider::Cipher;
use crate::resumption::{MAX_TICKETS, TicketKeys, Ticketed, until};
use crate::schedule::Early;
use crate::transcript::Transcript;

/// Maximum number of a hello's tickets that are tried; each costs a decryption.
const MAX_TRIED: usize = 4;

/// An accepted ticket.
#[derive(Debug)]
pub(super) struct Resumed {
    pub(super) ticketed: Ticketed,
    /// Its index in the hello.
    pub(super) place: u16,
}

/// A hello that may offer tickets.
pub(super) struct Offering<'a> {
    pub(super) config: &'a ServerConfig,
    pub(super) hello: &'a ClientHello,
    pub(super) raw: &'a [u8],
    pub(super) cipher: Cipher,
    /// The transcript before this hello, if it is the second.
    pub(super) before: Option<&'a Transcript>,
}

impl Offering<'_> {
    /// The ticket to resume with, if one of those offered is valid. If its binder does not verify, the hello is refused
    /// as an attack or a fault.
    pub(super) fn resumed(&self, core: &Core) -> Result<Option<Resumed>, Refusal> {
        let extensions = &self.hello.extensions;
        let Some(offered) = extensions.pre_shared_keys() else {
            return Ok(None);
        };
        let modes = extensions.resumes_with_exchange();
        let missing = Refusal::new(Alert::MissingExtension, "tickets without psk_modes");
        let (true, Some(keys)) = (modes.ok_or(missing)?, &self.config.tickets) else {
            return Ok(None);
        };
        let wishes = extensions.wishes(core.profile)?;
        let tried = (0_u16..).zip(&offered.identities).take(MAX_TRIED);
        for ((place, identity), binder) in tried.zip(&offered.binders) {
            let ticketed = keys.open(&identity.ticket);
            let good = ticketed.filter(|ticketed| self.is_good(ticketed, &wishes, core.now));
            if let Some(ticketed) = good {
                self.verify(offered, &ticketed, binder)?;
                return Ok(Some(Resumed { ticketed, place }));
            }
        }
        Ok(None)
    }

    /// Whether policy, requested identity and peer still match, and nothing has expired.
    fn is_good(&self, ticketed: &Ticketed, wishes: &[u8; 32], now: UnixTime) -> bool {
        let before = Cipher::new(ticketed.suite).map(Cipher::hash_len);
        let is_of_this_hash = before == Some(self.cipher.hash_len());
        let names = self.hello.extensions.protocols();
        let is_of_this_protocol =
            protocol(self.config, names).is_ok_and(|name| name == ticketed.protocol);
        let common = &self.config.common;
        let is_known = ticketed.peer.kind == PeerKind::Anonymous
            || common.still_holds(&ticketed.peer, ticketed.epoch, now);
        let is_in_time =
            now < ticketed.until && until(&ticketed.peer, ticketed.verified_at, now).is_some();
        let is_of_this_policy = ticketed.policy == self.config.digest && ticketed.wishes == *wishes;
        is_of_this_hash && is_of_this_protocol && is_of_this_policy && is_in_time && is_known
    }

    /// Verifies that the client knows the ticket's secret (§4.2.11.2).
    fn verify(
        &self,
        offered: &OfferedPsks,
        ticketed: &Ticketed,
        binder: &[u8],
    ) -> Result<(), Refusal> {
        let end = self.raw.len().saturating_sub(offered.binders_len());
        let bound = self.raw.get(..end).unwrap_or_default();
        let hash = match self.before {
            Some(before) => before.hash_with(bound),
            None => self.cipher.hash(bound),
        };
        let early = Early::new(self.cipher, Some(&ticketed.secret));
        match ct_eq(&early.binder(hash.as_ref())?, binder) {
            true => Ok(()),
            false => Err(Refusal::new(Alert::DecryptError, "a binder is invalid")),
        }
    }
}

/// What is needed to issue tickets: randomness of this connection, and the identity that the client wanted.
#[derive(Debug)]
pub(super) struct Issuing {
    pub(super) keys: TicketKeys,
    pub(super) random: [[u8; 16]; MAX_TICKETS],
    pub(super) wishes: [u8; 32],
    /// The status epoch in which the client was proved.
    pub(super) epoch: u64,
    /// Maximum bytes of early data with each.
    pub(super) early: u32,
}

impl Issuing {
    /// Sends the tickets (§4.6.1), once the client is authenticated and its Finished is in the transcript.
    pub(super) fn send(&self, core: &mut Core, sent: &Sent, peer: &Peer) -> Result<(), Refusal> {
        let verified_at = peer.resumed.unwrap_or(core.now);
        let Some(end) = until(peer, verified_at, core.now) else {
            return Ok(());
        };
        let until = end.min(core.now.plus(self.keys.lifetime));
        let lifetime = u32::try_from(until.seconds_since(core.now)).unwrap_or(0);
        if lifetime == 0 {
            return Ok(());
        }
        let transcript = sent.progress.transcript.hash();
        let resumption = sent.application.master.resumption(transcript.as_ref())?;
        for (number, random) in (0..self.keys.count).zip(&self.random) {
            let [a, b, c, d, nonce @ ..] = *random;
            let age_add = u32::from_be_bytes([a, b, c, d]);
            let ticketed = Ticketed {
                suite: sent.progress.cipher.suite(),
                secret: resumption.secret(&[number])?,
                policy: sent.config.digest,
                wishes: self.wishes,
                protocol: sent.progress.protocol.clone(),
                epoch: self.epoch,
                verified_at,
                until,
                issued_at: core.now,
                age_add,
                early: self.early,
                peer: peer.clone(),
            };
            let Some(ticket) = self.keys.seal(&ticketed, nonce) else {
                return core.flush();
            };
            let early = (self.early > 0).then_some(Extension::MaxEarlyData(self.early));
            let early = early.into_iter().collect();
            core.queue(&Message::NewSessionTicket(Ticket {
                lifetime,
                age_add,
                nonce: vec![number],
                ticket,
                extensions: Extensions(early),
            }))?;
        }
        core.flush()
    }
}
