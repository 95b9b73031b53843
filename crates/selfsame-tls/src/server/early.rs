//! Early data at the server (RFC 8446 §4.2.10, §4.5): whether it is accepted, and where it ends.

use super::resume::Resumed;
use super::{AwaitFinished, Sent, ServerState, ServerStep, UNEXPECTED};
use crate::alert::Refusal;
use crate::codec::{ClientHello, Message};
use crate::config::ServerConfig;
use crate::core::Core;
use crate::handshake::HandshakeNext;
use crate::identity::{ClaimStanding, Peer, PeerKind};
use crate::provider::Cipher;
use crate::resumption::EarlyOffer;

/// The parts of a hello that decide about early data.
pub(super) struct Hello<'a> {
    pub(super) hello: &'a ClientHello,
    pub(super) resumed: Option<&'a Resumed>,
    pub(super) cipher: Cipher,
    /// Whether it is the second hello.
    pub(super) is_again: bool,
}

impl Hello<'_> {
    /// How many bytes of early data are accepted; `None` if it is refused. This records the hello in the register, so
    /// call it once.
    pub(super) fn early(&self, config: &ServerConfig, core: &Core) -> Option<usize> {
        let (early, resumed) = (config.early.as_ref()?, self.resumed?);
        let ticketed = &resumed.ticketed;
        let extensions = &self.hello.extensions;
        let offered = extensions.pre_shared_keys()?;
        // Early data is protected with the key of the first ticket and its cipher suite (§4.2.10). That the server
        // name, application protocol and policy match those of the ticket was checked when the ticket was accepted.
        let fits = resumed.place == 0 && ticketed.suite == self.cipher.suite();
        // A client with an identity is judged again at this moment; an anonymous one need not be.
        let is_judged =
            config.common.revalidate.is_some() || ticketed.peer.kind == PeerKind::Anonymous;
        if !extensions.has_early_data() || self.is_again || !fits || !is_judged {
            return None;
        }
        let offer = EarlyOffer {
            ticketed,
            age: offered.identities.first()?.age,
            binder: offered.binders.first()?,
        };
        let most = usize::try_from(ticketed.early).ok()?;
        early.takes(&offer, core.now).then_some(most)
    }
}

/// Bytes to skip if early data is not accepted.
pub(super) fn to_skip(config: &ServerConfig, hello: &ClientHello, core: &Core) -> usize {
    let promised = config.early.as_ref().map_or(0, |early| early.most);
    let promised = usize::try_from(promised).unwrap_or(usize::MAX);
    match hello.extensions.has_early_data() {
        true => core.limits.early_data.saturating_add(promised),
        false => 0,
    }
}

/// The client sends early data, protected with its own key.
#[derive(Debug)]
pub(crate) struct AwaitEndOfEarlyData {
    pub(super) sent: Sent,
    /// The resuming client.
    pub(super) peer: Peer,
}

impl AwaitEndOfEarlyData {
    pub(super) fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> ServerStep {
        if message != Message::EndOfEarlyData {
            return Err(UNEXPECTED);
        }
        self.sent.progress.transcript.add(raw);
        core.set_read(self.sent.progress.schedule.client.clone())?;
        Ok(HandshakeNext::State(ServerState::Finished(Box::new(
            AwaitFinished {
                sent: self.sent,
                standing: ClaimStanding::Proved(self.peer),
            },
        ))))
    }
}

/// More early data than the ticket allows (§4.2.10).
pub(crate) const TOO_MUCH: Refusal = Refusal::unexpected("more early data than the ticket allows");
