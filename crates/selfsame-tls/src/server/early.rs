//! Early data at the server (RFC 8446 §4.2.10, §4.5): when it is taken, and where it ends.

use super::resume::Resumed;
use super::{AwaitFinished, Sent, State, Step, UNEXPECTED};
use crate::alert::Refusal;
use crate::codec::{ClientHello, Message};
use crate::config::ServerConfig;
use crate::core::Core;
use crate::handshake::Next;
use crate::identity::{Peer, PeerKind, Standing};
use crate::provider::Cipher;
use crate::resumption::EarlyOffer;

/// What a hello agrees on, as far as early data depends on it.
pub(super) struct Hello<'a> {
    pub(super) hello: &'a ClientHello,
    pub(super) resumed: Option<&'a Resumed>,
    pub(super) cipher: Cipher,
    /// Whether it is the second.
    pub(super) is_again: bool,
}

impl Hello<'_> {
    /// How many bytes of early data are taken; nothing if none is. The hello is noted by that, so this is asked once.
    pub(super) fn early(&self, config: &ServerConfig, core: &Core) -> Option<usize> {
        let (early, resumed) = (config.early.as_ref()?, self.resumed?);
        let ticketed = &resumed.ticketed;
        let extensions = &self.hello.extensions;
        let offered = extensions.pre_shared_keys()?;
        // It is under the key of the first ticket, and of its suite (§4.2.10). That server's name, application protocol
        // and policy are those of the ticket has been seen when it was taken.
        let fits = resumed.place == 0 && ticketed.suite == self.cipher.suite();
        // Who was let in before is judged once more, at this moment, or it is nobody.
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

/// Bytes to skip where early data is not taken.
pub(super) fn to_skip(config: &ServerConfig, hello: &ClientHello, core: &Core) -> usize {
    let promised = config.early.as_ref().map_or(0, |early| early.most);
    let promised = usize::try_from(promised).unwrap_or(usize::MAX);
    match hello.extensions.has_early_data() {
        true => core.limits.early_data.saturating_add(promised),
        false => 0,
    }
}

/// The client sends early data, under a key of its own.
#[derive(Debug)]
pub(crate) struct AwaitEndOfEarlyData {
    pub(super) sent: Sent,
    /// The client, which resumes.
    pub(super) peer: Peer,
}

impl AwaitEndOfEarlyData {
    pub(super) fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> Step {
        if message != Message::EndOfEarlyData {
            return Err(UNEXPECTED);
        }
        self.sent.progress.transcript.add(raw);
        core.set_read(self.sent.progress.schedule.client.clone())?;
        Ok(Next::State(State::Finished(Box::new(AwaitFinished {
            sent: self.sent,
            standing: Standing::Proved(self.peer),
        }))))
    }
}

/// Early data beyond what the ticket allows (§4.2.10).
pub(crate) const TOO_MUCH: Refusal = Refusal::unexpected("more early data than the ticket allows");
