//! The client's hello, and the server's possible answers (RFC 8446 §4.1, §4.2.8, §4.3.1).

use std::sync::Arc;

use selfsame_crypto::ctx::Ctx;

use super::{AwaitEncryptedExtensions, ClientState, ClientStep, UNEXPECTED, resume, types};
use crate::alert::{Alert, Refusal};
use crate::codec::{
    ClientHello, ContentType, Extension, Extensions, KeyShare, Message, PSK_DHE_KE, ServerHello,
};
use crate::config::ClientConfig;
use crate::core::Core;
use crate::handshake::{HandshakeNext, HandshakeProgress, TLS_1_3};
use crate::named::Group;
use crate::provider::{CERTIFICATE_SCHEMES, Cipher, KeyExchange, SCHEMES};
use crate::resumption::TicketSession;
use crate::schedule::Early;
use crate::transcript::{Transcript, Unhashed};

#[derive(Debug)]
pub(crate) struct AwaitServerHello {
    config: Arc<ClientConfig>,
    hello: ClientHello,
    exchange: KeyExchange,
    /// The ticket that was offered.
    session: Option<TicketSession>,
    sent: SentHello,
}

/// The transcript so far.
#[derive(Debug)]
enum SentHello {
    Once(Unhashed),
    /// After a HelloRetryRequest, with the cipher suite that it named.
    Again(Transcript, Cipher),
}

impl AwaitServerHello {
    pub(super) fn start(
        core: &mut Core,
        config: &Arc<ClientConfig>,
        ctx: &Ctx,
    ) -> Result<Self, Refusal> {
        let common = &config.common;
        let group = common.groups.first();
        let exchange = KeyExchange::start(*group.ok_or(Refusal::internal("no group"))?)?;
        let extensions = extensions(config, &exchange);
        let random = ctx.random("tls client random");
        let mut hello = ClientHello::new(random, common.suites.clone(), extensions);
        if common.middleboxes {
            // To middleboxes, a session id looks like the resumption of a TLS 1.2 session (appendix D.4).
            hello.session_id = ctx.random::<32>("tls session id").to_vec();
        }
        let session = resume::session(config, core.now);
        match (&session, &config.sessions) {
            (Some(session), _) => {
                if resume::is_early(config, session) {
                    hello.extensions.0.push(Extension::EarlyData);
                }
                resume::offer(&mut hello, session, core.now);
            }
            // Servers only issue tickets if this extension was sent (§4.2.9).
            (None, Some(_)) => hello
                .extensions
                .0
                .push(Extension::PskModes(vec![PSK_DHE_KE])),
            (None, None) => {}
        }
        let raw = resume::bind(core, &hello, session.as_ref(), None)?;
        core.records
            .send_plain(ContentType::Handshake, 0x0301, &raw)?;
        if let Some(session) = session
            .as_ref()
            .filter(|_| hello.extensions.has_early_data())
        {
            if common.middleboxes {
                core.send_ccs()?;
            }
            resume::begin_early(core, session, &raw)?;
        }
        // To resume, the server need not be resolved again.
        if let (None, Some(need)) = (&session, config.server.foreseen()) {
            core.ask_ahead(need);
        }
        let mut sent = Unhashed::default();
        sent.add(&raw);
        Ok(Self {
            config: Arc::clone(config),
            hello,
            exchange,
            session,
            sent: SentHello::Once(sent),
        })
    }

    pub(super) fn receive(self, core: &mut Core, message: Message, raw: &[u8]) -> ClientStep {
        let Message::ServerHello(answer) = message else {
            return Err(UNEXPECTED);
        };
        let cipher = self.check(&answer)?;
        match (answer.is_retry(), self.sent) {
            (true, SentHello::Again(..)) => Err(Refusal::unexpected("a second HelloRetryRequest")),
            (true, SentHello::Once(sent)) => {
                let mut transcript = sent.start(cipher);
                transcript.retry();
                transcript.add(raw);
                let again = HelloAgain {
                    config: self.config,
                    hello: self.hello,
                    exchange: self.exchange,
                    session: self.session,
                    transcript,
                };
                again.send(core, &answer, cipher)
            }
            (false, sent) => {
                let mut transcript = match sent {
                    SentHello::Once(sent) => sent.start(cipher),
                    SentHello::Again(transcript, before) if before.suite() == cipher.suite() => {
                        transcript
                    }
                    SentHello::Again(..) => {
                        return Err(Refusal::illegal(
                            "the cipher suite differs from that of the HelloRetryRequest",
                        ));
                    }
                };
                transcript.add(raw);
                let protocol = self
                    .session
                    .as_ref()
                    .map(|session| session.protocol.clone());
                let session = resume::accepted(&answer, self.session, cipher)?;
                let resumes = |session: &TicketSession| session.suite == cipher.suite();
                let is_resumed = session.as_ref().is_some_and(resumes);
                let early = protocol.map(|protocol| resume::Sent {
                    is_resumed,
                    protocol,
                });
                let share = share_of(&answer, &self.hello)?.clone();
                let agreed = Agreed {
                    share,
                    config: self.config,
                    exchange: self.exchange,
                    session,
                    early: early.filter(|_| self.hello.extensions.has_early_data()),
                    transcript,
                };
                agreed.proceed(core, cipher)
            }
        }
    }

    /// Checks what ServerHello and HelloRetryRequest have in common (§4.1.3, §4.1.4).
    fn check(&self, answer: &ServerHello) -> Result<Cipher, Refusal> {
        let version = answer.extensions.find(|extension| match extension {
            Extension::Version(version) => Some(*version),
            _ => None,
        });
        match version {
            Some(TLS_1_3) if answer.has_legacy_version() => {}
            None => {
                let reason = "the server speaks an older version";
                return Err(Refusal::new(Alert::ProtocolVersion, reason));
            }
            Some(_) => return Err(Refusal::illegal("a version that was not offered")),
        }
        if answer.session_id != self.hello.session_id {
            return Err(Refusal::illegal("the session id differs from the client's"));
        }
        let is_known = |extension: &Extension| {
            matches!(extension, Extension::Version(_) | Extension::KeyShare(_))
                || matches!(extension, Extension::PreSharedKey(_))
                    && self.hello.extensions.pre_shared_keys().is_some()
                || answer.is_retry()
                    && matches!(extension, Extension::RetryGroup(_) | Extension::Cookie(_))
        };
        if !answer.extensions.0.iter().all(is_known) {
            let reason = "an extension that was not offered";
            return Err(Refusal::new(Alert::UnsupportedExtension, reason));
        }
        let cipher = match self.hello.suites.contains(&answer.suite) {
            true => Cipher::new(answer.suite),
            false => None,
        };
        cipher.ok_or(Refusal::illegal("a cipher suite that was not offered"))
    }
}

/// What both hellos agreed on.
struct Agreed {
    config: Arc<ClientConfig>,
    exchange: KeyExchange,
    /// The server's key share.
    share: KeyShare,
    session: Option<TicketSession>,
    /// Early data, if it was offered.
    early: Option<resume::Sent>,
    transcript: Transcript,
}

impl Agreed {
    /// Switches to the handshake keys.
    fn proceed(self, core: &mut Core, cipher: Cipher) -> ClientStep {
        let KeyShare { group, key } = self.share;
        let shared = self.exchange.complete(group, &key)?;
        let hash = self.transcript.hash();
        let secret = self.session.as_ref().map(|session| &session.secret);
        let schedule = Early::new(cipher, secret).handshake(shared.bytes(), hash.as_ref())?;
        core.set_read(schedule.server.clone())?;
        if self.config.common.middleboxes {
            core.send_ccs()?;
        }
        // Only EncryptedExtensions says whether early data is accepted.
        if self.early.is_none() {
            core.set_write(schedule.client.clone())?;
        }
        let resumed = self.session.map(|session| {
            let (at, epoch) = (session.verified_at, session.epoch);
            (session.peer.resumes(at, core.now), epoch)
        });
        Ok(HandshakeNext::State(ClientState::EncryptedExtensions(
            Box::new(AwaitEncryptedExtensions {
                config: self.config,
                progress: HandshakeProgress::new(cipher, group, self.transcript, schedule),
                resumed,
                early: self.early,
            }),
        )))
    }
}

/// The state kept across a HelloRetryRequest.
struct HelloAgain {
    config: Arc<ClientConfig>,
    hello: ClientHello,
    /// The exchange whose share was in the first hello.
    exchange: KeyExchange,
    session: Option<TicketSession>,
    transcript: Transcript,
}

impl HelloAgain {
    /// Sends the hello again, with the requested share and cookie, and otherwise unchanged (§4.1.2).
    fn send(mut self, core: &mut Core, retry: &ServerHello, cipher: Cipher) -> ClientStep {
        let group = retry.extensions.find(|extension| match extension {
            Extension::RetryGroup(group) => Some(*group),
            _ => None,
        });
        let cookie = retry.extensions.find(|extension| match extension {
            Extension::Cookie(cookie) => Some(cookie.clone()),
            _ => None,
        });
        if group.is_none() && cookie.is_none() {
            return Err(Refusal::illegal("a HelloRetryRequest that changes nothing"));
        }
        let exchange = match group {
            Some(group) => {
                let exchange = self.exchange_of(group)?;
                self.share_alone(&exchange);
                exchange
            }
            // The share only changes if another group is requested (§4.1.2).
            None => self.exchange,
        };
        if let Some(cookie) = cookie {
            self.hello.extensions.0.push(Extension::Cookie(cookie));
        }
        // Early data already sent is lost, and no more may be sent (§4.2.10).
        self.hello
            .extensions
            .0
            .retain(|one| *one != Extension::EarlyData);
        core.early.room = 0;
        core.records.clear_write();
        // A ticket for another hash cannot be used any more (§4.1.4). pre_shared_key stays the last extension.
        let before = self.session.as_ref().and_then(TicketSession::cipher);
        match &self.session {
            Some(session) if before.map(Cipher::hash_len) == Some(cipher.hash_len()) => {
                resume::offer(&mut self.hello, session, core.now);
            }
            _ => self.session = None,
        }
        if self.session.is_none() {
            let extensions = &mut self.hello.extensions.0;
            extensions.retain(|one| !matches!(one, Extension::PreSharedKeys(_)));
        }
        if !core.is_between_messages() {
            return Err(Refusal::unexpected("a message follows HelloRetryRequest"));
        }
        if self.config.common.middleboxes {
            core.send_ccs()?;
        }
        let before = Some(&self.transcript);
        let raw = resume::bind(core, &self.hello, self.session.as_ref(), before)?;
        core.records
            .send_plain(ContentType::Handshake, 0x0303, &raw)?;
        self.transcript.add(&raw);
        Ok(HandshakeNext::State(ClientState::ServerHello(Box::new(
            AwaitServerHello {
                config: self.config,
                hello: self.hello,
                exchange,
                session: self.session,
                sent: SentHello::Again(self.transcript, cipher),
            },
        ))))
    }

    /// A new exchange for the group that the server asks for, which must not be one with a share in the hello (§4.2.8).
    fn exchange_of(&self, group: Group) -> Result<KeyExchange, Refusal> {
        let mut shares = self
            .hello
            .extensions
            .key_shares()
            .unwrap_or_default()
            .iter();
        let is_offered = shares.any(|share| share.group == group);
        match !is_offered && self.config.common.groups.contains(&group) {
            true => KeyExchange::start(group),
            false => Err(Refusal::illegal(
                "a HelloRetryRequest for a group that it must not request",
            )),
        }
    }

    /// Replaces the hello's key shares with the one of this exchange.
    fn share_alone(&mut self, exchange: &KeyExchange) {
        for extension in &mut self.hello.extensions.0 {
            if let Extension::KeyShares(shares) = extension {
                let (group, key) = exchange.share();
                *shares = vec![share(group, key)];
            }
        }
    }
}

/// The server's share, which must be for a group with a share in the hello (§4.2.8).
fn share_of<'a>(answer: &'a ServerHello, hello: &ClientHello) -> Result<&'a KeyShare, Refusal> {
    let share = answer.extensions.find(|extension| match extension {
        Extension::KeyShare(share) => Some(share),
        _ => None,
    });
    let missing = Refusal::new(Alert::MissingExtension, "a ServerHello without a key share");
    let share = share.ok_or(missing)?;
    let mut ours = hello.extensions.key_shares().unwrap_or_default().iter();
    match ours.any(|one| one.group == share.group) {
        true => Ok(share),
        false => Err(Refusal::illegal("a key share of another group")),
    }
}

fn share(group: Group, key: &[u8]) -> KeyShare {
    KeyShare {
        group,
        key: key.to_vec(),
    }
}

/// The shares of the first hello: that of the exchange and, for a hybrid, that of its classical component, which needs
/// no further key and spares servers without the hybrid a second hello (draft-ietf-tls-hybrid-design §3.2).
fn shares(exchange: &KeyExchange, groups: &[Group]) -> Vec<KeyShare> {
    let within = exchange.share_within();
    let within = within.filter(|(group, _)| groups.contains(group));
    let all = std::iter::once(exchange.share()).chain(within);
    all.map(|(group, key)| share(group, key)).collect()
}

fn extensions(config: &ClientConfig, exchange: &KeyExchange) -> Extensions {
    let common = &config.common;
    let mut extensions = Vec::new();
    if let Some(name) = config.server_name() {
        extensions.push(Extension::ServerName(Some(name.to_owned())));
    }
    extensions.push(Extension::Versions(vec![TLS_1_3]));
    extensions.push(Extension::Groups(common.groups.clone()));
    extensions.push(Extension::Schemes(SCHEMES.to_vec()));
    if config.server.certificates.is_some() {
        let schemes = CERTIFICATE_SCHEMES.to_vec();
        extensions.push(Extension::CertificateSchemes(schemes));
    }
    extensions.push(Extension::KeyShares(shares(exchange, &common.groups)));
    if !common.protocols.is_empty() {
        extensions.push(Extension::Protocols(common.protocols.clone()));
    }
    if config.server.reads_crls() {
        extensions.push(Extension::ReadsCrls);
    }
    match &config.ssi {
        Some(ssi) if common.profile.messages().is_some() => {
            extensions.push(Extension::Ssi(ssi.clone()));
        }
        _ => extensions.extend(types::offer(config)),
    }
    Extensions(extensions)
}

/// Checks that only offered extensions are answered (§4.2), and returns the application protocol.
pub(super) fn check_encrypted(
    extensions: &Extensions,
    config: &ClientConfig,
) -> Result<Option<Vec<u8>>, Refusal> {
    let mut protocol = None;
    for extension in &extensions.0 {
        match extension {
            Extension::ServerName(None) if config.server_name().is_some() => {}
            // Certificate types and early data are checked where the choice is read.
            Extension::Groups(_)
            | Extension::ServerType(_)
            | Extension::ClientType(_)
            | Extension::EarlyData => {}
            Extension::Protocols(names) if !config.common.protocols.is_empty() => {
                protocol = match names.as_slice() {
                    [name] if config.common.protocols.contains(name) => Some(name.clone()),
                    _ => {
                        return Err(Refusal::illegal(
                            "an application protocol that was not offered",
                        ));
                    }
                };
            }
            _ => {
                let reason = "an extension that was not offered";
                return Err(Refusal::new(Alert::UnsupportedExtension, reason));
            }
        }
    }
    Ok(protocol)
}
