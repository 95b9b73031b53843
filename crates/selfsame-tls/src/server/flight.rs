//! The server's flight: the identity it shows, its request for the client's identity, and Finished.

use std::sync::Arc;

use super::early::AwaitEndOfEarlyData;
use super::protocols::protocol;
use super::resume::Issuing;
use super::types::Wishes;
use super::{AwaitFinished, AwaitIdentity, Sent, ServerState, ServerStep};
use crate::alert::{Alert, Refusal};
use crate::codec::{
    CertificateRequest, ClientHello, Extension, Extensions, Message, Mode, SsiParameters,
};
use crate::config::ServerConfig;
use crate::core::Core;
use crate::handshake::{
    HandshakeNext, HandshakeProgress, Selected, send_certificate, send_finished, send_ssi,
};
use crate::identity::{CertificateIdentity, ClaimStanding, Peer, Side, SsiIdentity};
use crate::named::Scheme;
use crate::profile::Profile;
use crate::provider::{CERTIFICATE_SCHEMES, SCHEMES};
use crate::resumption::Ticketed;

/// What the client offers apart from key shares.
pub(super) struct ClientOffer<'a> {
    schemes: &'a [Scheme],
    protocols: &'a [Vec<u8>],
    name: Option<&'a str>,
    wishes: Wishes,
    reads_crls: bool,
}

impl<'a> ClientOffer<'a> {
    pub(super) fn new(hello: &'a ClientHello, profile: &Profile) -> Result<Self, Refusal> {
        let missing = Refusal::new(Alert::MissingExtension, "no signature algorithms");
        Ok(Self {
            schemes: hello.extensions.schemes().ok_or(missing)?,
            protocols: hello.extensions.protocols(),
            name: hello.extensions.server_name(),
            wishes: Wishes::read(hello, profile)?,
            reads_crls: hello.extensions.reads_crls(),
        })
    }
}

/// The identity to show.
enum ShownIdentity<'a> {
    Ssi(&'a SsiIdentity, Scheme, &'a SsiParameters),
    /// The flag says whether it was chosen by server name.
    Certificate(&'a CertificateIdentity, Scheme, bool),
}

pub(super) struct Flight {
    config: Arc<ServerConfig>,
    progress: HandshakeProgress,
    issuing: Option<Issuing>,
}

impl Flight {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        progress: HandshakeProgress,
        issuing: Option<Issuing>,
    ) -> Self {
        Self {
            config,
            progress,
            issuing,
        }
    }

    pub(super) fn send(mut self, core: &mut Core, offer: &ClientOffer<'_>) -> ServerStep {
        let config = Arc::clone(&self.config);
        let shown = shown(&config, core, offer)?;
        let request = request(&config, core, offer)?;
        self.progress.protocol = protocol(&config, offer.protocols)?;
        let mode = request.as_ref().map(|(mode, _)| *mode);
        let is_ssi = matches!(shown, ShownIdentity::Ssi(..));
        let mut extensions = offer.wishes.answer(is_ssi, mode, core.profile);
        // The server acknowledges a name that it used (RFC 6066 §3).
        if matches!(shown, ShownIdentity::Certificate(_, _, true)) {
            extensions.push(Extension::ServerName(None));
        }
        self.queue_extensions(core, extensions)?;
        if let Some((_, message)) = &request {
            self.progress.queue(core, message)?;
        }
        match shown {
            ShownIdentity::Ssi(identity, scheme, asked) => {
                let own = Selected { identity, scheme };
                send_ssi(core, &mut self.progress, own, asked, Side::Server)?;
            }
            ShownIdentity::Certificate(identity, scheme, _) => {
                let (own, reads_crls) = (Some(Selected { identity, scheme }), offer.reads_crls);
                send_certificate(core, &mut self.progress, own, Side::Server, reads_crls)?;
            }
        }
        let sent = self.finish(core)?;
        Ok(HandshakeNext::State(match mode {
            Some(mode) => ServerState::Identity(Box::new(AwaitIdentity { sent, mode })),
            None => ServerState::Finished(Box::new(AwaitFinished {
                sent,
                standing: ClaimStanding::Proved(Peer::anonymous()),
            })),
        }))
    }

    /// The flight of a resumed handshake: no identity is shown or requested (RFC 8446 §2.2).
    pub(super) fn resume(mut self, core: &mut Core, ticketed: Ticketed) -> ServerStep {
        self.progress.protocol = ticketed.protocol;
        let early = core.early.is_taken.then_some(Extension::EarlyData);
        self.queue_extensions(core, early.into_iter().collect())?;
        let sent = self.finish(core)?;
        let peer = ticketed.peer.resumes(ticketed.verified_at, core.now);
        if core.early.is_taken {
            let state = AwaitEndOfEarlyData { sent, peer };
            return Ok(HandshakeNext::State(ServerState::EarlyData(Box::new(
                state,
            ))));
        }
        Ok(HandshakeNext::State(ServerState::Finished(Box::new(
            AwaitFinished {
                sent,
                standing: ClaimStanding::Proved(peer),
            },
        ))))
    }

    fn queue_extensions(&mut self, core: &mut Core, more: Vec<Extension>) -> Result<(), Refusal> {
        let chosen = self.progress.protocol.iter();
        let extensions = chosen.map(|name| Extension::Protocols(vec![name.clone()]));
        let extensions = Extensions(extensions.chain(more).collect());
        self.progress
            .queue(core, &Message::EncryptedExtensions(extensions))
    }

    /// Sends Finished, and switches to the application key for sending.
    fn finish(mut self, core: &mut Core) -> Result<Sent, Refusal> {
        let traffic = self.progress.schedule.server.clone();
        send_finished(core, &mut self.progress, &traffic)?;
        let transcript = self.progress.transcript.hash();
        let application = self.progress.schedule.application(transcript.as_ref())?;
        core.set_write(application.server.clone())?;
        Ok(Sent {
            config: self.config,
            progress: self.progress,
            application,
            issuing: self.issuing,
        })
    }
}

/// Checks that there is an identity to show, one to request, and a common protocol. This happens before ServerHello, so
/// that a refusal costs no key exchange and its alert is unencrypted, readable for every client.
pub(super) fn check(
    config: &ServerConfig,
    core: &Core,
    hello: &ClientHello,
) -> Result<(), Refusal> {
    let offer = ClientOffer::new(hello, core.profile)?;
    shown(config, core, &offer)?;
    request(config, core, &offer)?;
    protocol(config, offer.protocols).map(drop)
}

/// Our DID or credential, if the client asks for it and can resolve and verify it; otherwise our certificate (paper
/// §III).
fn shown<'a>(
    config: &'a ServerConfig,
    core: &Core,
    offer: &'a ClientOffer<'_>,
) -> Result<ShownIdentity<'a>, Refusal> {
    let own = &config.common.identities;
    if let (Some(asked), Some(ssi)) = (&offer.wishes.shown, &own.ssi) {
        let fits = ssi.fits(asked, core.profile);
        if let (true, Some(scheme)) = (fits, ssi.key.choose(offer.schemes)) {
            return Ok(ShownIdentity::Ssi(ssi, scheme, asked));
        }
    }
    let mut certificates = config.certificates(offer.name);
    let chosen = certificates.find_map(|(own, is_named)| {
        let scheme = own.key.choose(offer.schemes)?;
        Some(ShownIdentity::Certificate(own, scheme, is_named))
    });
    let reason = "no own identity that the client accepts";
    let chosen = chosen.filter(|_| offer.wishes.takes_x509());
    chosen.ok_or(offer.wishes.refusal(reason))
}

/// The request for the client's identity: a DID or credential if the client can show one, otherwise a certificate,
/// never both.
fn request(
    config: &ServerConfig,
    core: &Core,
    offer: &ClientOffer<'_>,
) -> Result<Option<(Mode, Message)>, Refusal> {
    let Some(policy) = config.clients.policy() else {
        return Ok(None);
    };
    if let (Some(asked), Some(identities)) = (&offer.wishes.asked, &policy.identities) {
        let failed = |_| Refusal::internal("the profile can't express the policy");
        let mut ours = identities.parameters(core.profile).map_err(failed)?;
        match asked.mode {
            Mode::Certificate => {}
            mode if mode == ours.mode => {
                ours.methods.retain(|code| asked.methods.contains(code));
            }
            Mode::Did | Mode::Vc => ours.methods.clear(),
        }
        if !ours.methods.is_empty() {
            return Ok(Some((ours.mode, identity_request(ours, core))));
        }
    }
    if policy.certificates.is_some() && offer.wishes.shows_x509() {
        let reads_crls = policy.reads_crls().then_some(Extension::ReadsCrls);
        let schemes = [
            Extension::Schemes(SCHEMES.to_vec()),
            Extension::CertificateSchemes(CERTIFICATE_SCHEMES.to_vec()),
        ];
        let request = CertificateRequest {
            context: Vec::new(),
            extensions: Extensions(schemes.into_iter().chain(reads_crls).collect()),
        };
        return Ok(Some((
            Mode::Certificate,
            Message::CertificateRequest(request),
        )));
    }
    match config.clients.is_required() {
        false => Ok(None),
        true => {
            let reason = "the client supports no identity that is accepted here";
            Err(offer.wishes.refusal(reason))
        }
    }
}

/// SSIRequest, or in profile `draft` a CertificateRequest with the DID methods.
fn identity_request(ours: SsiParameters, core: &Core) -> Message {
    let schemes = Extension::Schemes(SCHEMES.to_vec());
    if core.profile.certificate_type().is_none() {
        return Message::SsiRequest(Extensions(vec![Extension::Ssi(ours), schemes]));
    }
    let methods = ours.methods.iter().map(|code| u16::from(*code));
    let methods = Extension::DidMethods(methods.collect());
    Message::CertificateRequest(CertificateRequest {
        context: Vec::new(),
        extensions: Extensions(vec![schemes, methods]),
    })
}
