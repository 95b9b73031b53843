//! Resumption by a client: offers a ticket, proves that it knows the ticket's secret, reads the server's answer.

use selfsame_crypto::time::UnixTime;

use crate::alert::{Alert, Refusal};
use crate::codec::{
    ClientHello, Extension, Extensions, Message, OfferedPsks, PSK_DHE_KE, PskIdentity, ServerHello,
};
use crate::config::ClientConfig;
use crate::core::Core;
use crate::provider::Cipher;
use crate::resumption::TicketSession;
use crate::schedule::Early;
use crate::transcript::Transcript;

/// The ticket to offer, if there is one that may still be used.
pub(super) fn session(config: &ClientConfig, now: UnixTime) -> Option<TicketSession> {
    let session = config.sessions.as_ref()?.take(&config.digest, now)?;
    let common = &config.common;
    let holds = common.still_holds(&session.peer, session.epoch, now);
    (holds && common.suites.contains(&session.suite)).then_some(session)
}

/// Whether early data (RFC 8446 §4.2.10) may be sent: it is enabled, the ticket allows it, and `revalidate` is
/// configured to judge the server again.
pub(super) fn is_early(config: &ClientConfig, session: &TicketSession) -> bool {
    config.is_early && session.early > 0 && config.common.revalidate.is_some()
}

/// Switches to the early data key, derived from the ticket and the hello.
pub(super) fn begin_early(
    core: &mut Core,
    session: &TicketSession,
    hello: &[u8],
) -> Result<(), Refusal> {
    let cipher = session.cipher().ok_or(UNKNOWN)?;
    let early = Early::new(cipher, Some(&session.secret));
    let traffic = early.traffic(cipher.hash(hello).as_ref())?;
    core.early.room = usize::try_from(session.early).unwrap_or(0);
    core.set_write(traffic)
}

/// The terms under which early data was sent.
#[derive(Debug)]
pub(super) struct Sent {
    /// Whether the server accepted the ticket and its cipher suite.
    pub(super) is_resumed: bool,
    /// The application protocol of the ticket.
    pub(super) protocol: Option<Vec<u8>>,
}

impl Sent {
    /// Whether the server accepts the early data, which it may only do with the ticket, its cipher suite and its
    /// application protocol (§4.2.10).
    pub(super) fn is_taken(
        &self,
        extensions: &Extensions,
        protocol: Option<&Vec<u8>>,
    ) -> Result<bool, Refusal> {
        let fits = self.is_resumed && self.protocol.as_ref() == protocol;
        match (extensions.has_early_data(), fits) {
            (true, false) => Err(Refusal::illegal(
                "early data is accepted with other parameters than the ticket's",
            )),
            (is_taken, _) => Ok(is_taken),
        }
    }
}

/// Checks that the server does not accept early data that was not offered.
pub(super) fn check_no_early(extensions: &Extensions) -> Result<bool, Refusal> {
    match extensions.has_early_data() {
        false => Ok(false),
        true => {
            let reason = "an extension that was not offered";
            Err(Refusal::new(Alert::UnsupportedExtension, reason))
        }
    }
}

const UNKNOWN: Refusal = Refusal::internal("a ticket of an unsupported cipher suite");

/// Adds the extensions that offer the ticket, which have to be the last.
pub(super) fn offer(hello: &mut ClientHello, session: &TicketSession, now: UnixTime) {
    let binder = session.cipher().map_or(0, Cipher::hash_len);
    let identity = PskIdentity {
        ticket: session.ticket.clone(),
        age: session.obfuscated_age(now),
    };
    hello.extensions.0.retain(|extension| {
        !matches!(
            extension,
            Extension::PskModes(_) | Extension::PreSharedKeys(_)
        )
    });
    let offered = OfferedPsks {
        identities: vec![identity],
        binders: vec![vec![0; binder]],
    };
    let extensions = [
        Extension::PskModes(vec![PSK_DHE_KE]),
        Extension::PreSharedKeys(offered),
    ];
    hello.extensions.0.extend(extensions);
}

/// The hello's bytes, with the binder over all bytes before it (RFC 8446 §4.2.11.2).
pub(super) fn bind(
    core: &Core,
    hello: &ClientHello,
    session: Option<&TicketSession>,
    before: Option<&Transcript>,
) -> Result<Vec<u8>, Refusal> {
    let mut raw = Message::ClientHello(hello.clone()).write(core.profile)?;
    let offered = hello.extensions.pre_shared_keys();
    let (Some(session), Some(offered)) = (session, offered) else {
        return Ok(raw);
    };
    let cipher = session.cipher().ok_or(UNKNOWN)?;
    let end = raw.len().saturating_sub(offered.binders_len());
    let (bound, _) = raw.split_at_checked(end).unwrap_or_default();
    let hash = match before {
        Some(before) => before.hash_with(bound),
        None => cipher.hash(bound),
    };
    let binder = Early::new(cipher, Some(&session.secret)).binder(hash.as_ref())?;
    let place = raw.len().saturating_sub(binder.len());
    let (_, place) = raw.split_at_mut_checked(place).unwrap_or_default();
    place.copy_from_slice(&binder);
    Ok(raw)
}

/// Whether the server accepted the ticket (§4.2.11).
pub(super) fn accepted(
    answer: &ServerHello,
    session: Option<TicketSession>,
    cipher: Cipher,
) -> Result<Option<TicketSession>, Refusal> {
    let chosen = answer.extensions.find(|extension| match extension {
        Extension::PreSharedKey(chosen) => Some(*chosen),
        _ => None,
    });
    let Some(chosen) = chosen else {
        return Ok(None);
    };
    let fits = |session: &TicketSession| {
        let before = session.cipher().map(Cipher::hash_len);
        chosen == 0 && before == Some(cipher.hash_len())
    };
    let session = session.filter(fits).ok_or(Refusal::illegal(
        "a ticket that was not offered or has another hash",
    ))?;
    let has_share = |extension: &Extension| matches!(extension, Extension::KeyShare(_));
    match answer.extensions.0.iter().any(has_share) {
        true => Ok(Some(session)),
        false => Err(Refusal::illegal("a resumption without a key exchange")),
    }
}
