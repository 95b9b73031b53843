//! The server: its states, and the message that each awaits (RFC 8446 §A.2, docs/tls.md).

mod early;
mod flight;
mod hello;
mod protocols;
mod resume;
mod types;

use std::sync::Arc;

use selfsame_crypto::ctx::Ctx;

use crate::alert::{Alert, Refusal};
use crate::codec::{CertificateChain, Message, Mode};
use crate::config::ServerConfig;
use crate::core::Core;
use crate::handshake::{
    Done, HandshakeNext, HandshakeProgress, credential_in, proof_in, verify_finished,
};
use crate::identity::{Claim, ClaimStanding, Peer, Side, to_sign};
use crate::schedule::Application;

use early::AwaitEndOfEarlyData;
use hello::AwaitClientHello;
use resume::Issuing;

pub(crate) use early::TOO_MUCH;

/// The message that the server awaits.
#[derive(Debug)]
pub(crate) enum ServerState {
    /// The first or second ClientHello.
    ClientHello(Box<AwaitClientHello>),
    /// The client's identity, of the kind that was requested.
    Identity(Box<AwaitIdentity>),
    /// CertificateVerify or DIDVerify.
    Proof(Box<AwaitProof>),
    /// Early data, then EndOfEarlyData.
    EarlyData(Box<AwaitEndOfEarlyData>),
    /// Finished.
    Finished(Box<AwaitFinished>),
    /// Evidence about the client.
    Evidence(Box<AwaitEvidence>),
}

pub(crate) type ServerStep = Result<HandshakeNext<ServerState>, Refusal>;

/// Starts by waiting for a client.
pub(crate) fn start(config: &Arc<ServerConfig>, ctx: &Ctx) -> ServerState {
    ServerState::ClientHello(Box::new(AwaitClientHello::start(config, ctx)))
}

impl ServerState {
    /// Takes the next message, whose bytes are `raw`.
    pub(crate) fn receive(self, core: &mut Core, message: Message, raw: &[u8]) -> ServerStep {
        match self {
            Self::ClientHello(state) => state.receive(core, message, raw),
            Self::Identity(state) => state.receive(core, message, raw),
            Self::Proof(state) => state.receive(message, raw),
            Self::EarlyData(state) => state.receive(core, message, raw),
            Self::Finished(state) => state.receive(core, message, raw),
            Self::Evidence(_) => Err(UNEXPECTED),
        }
    }

    /// Checks whether evidence has arrived.
    pub(crate) fn resume(self, core: &mut Core) -> ServerStep {
        match self {
            Self::Proof(mut state) => {
                let policy = state.sent.config.clients.policy().ok_or(UNEXPECTED)?;
                state.claim.advance(core, policy)?;
                Ok(HandshakeNext::State(Self::Proof(state)))
            }
            Self::Finished(mut state) => {
                let policy = state.sent.config.clients.policy();
                state.standing.advance(core, policy)?;
                Ok(HandshakeNext::State(Self::Finished(state)))
            }
            Self::Evidence(state) => state.resume(core),
            other => Ok(HandshakeNext::State(other)),
        }
    }

    pub(crate) fn has_no_hello(&self) -> bool {
        matches!(self, Self::ClientHello(state) if state.is_first())
    }

    /// The client, while it sends early data.
    pub(crate) fn early_peer(&self) -> Option<&Peer> {
        match self {
            Self::EarlyData(state) => Some(&state.peer),
            _ => None,
        }
    }

    pub(crate) fn is_suspended(&self) -> bool {
        matches!(self, Self::Evidence(_))
    }
}

const UNEXPECTED: Refusal = Refusal::unexpected("a message that the server does not expect here");

/// The state after the server's flight.
#[derive(Debug)]
pub(crate) struct Sent {
    config: Arc<ServerConfig>,
    progress: HandshakeProgress,
    application: Application,
    /// What is needed to issue tickets, if the client gets any.
    issuing: Option<Issuing>,
}

#[derive(Debug)]
pub(crate) struct AwaitIdentity {
    sent: Sent,
    /// The requested mode; [`Mode::Certificate`] for CertificateRequest.
    mode: Mode,
}

impl AwaitIdentity {
    fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> ServerStep {
        let policy = self.sent.config.clients.policy().ok_or(UNEXPECTED)?;
        let profile = core.profile;
        let by_type = profile.certificate_type().is_some() && self.mode == Mode::Vc;
        let message = match message {
            Message::Certificate(certificate)
                if by_type && certificate != CertificateChain::default() =>
            {
                credential_in(certificate, profile)?
            }
            other => other,
        };
        let fits = match (&message, self.mode) {
            (Message::Certificate(_), mode) => mode == Mode::Certificate || by_type,
            (Message::Vc(_), mode) => mode == Mode::Vc,
            (Message::Did(_), mode) => mode == Mode::Did,
            _ => false,
        };
        if !fits {
            return Err(UNEXPECTED);
        }
        let is_nobody = |message: &Message| match message {
            Message::Certificate(certificate) => *certificate == CertificateChain::default(),
            _ => false,
        };
        if is_nobody(&message) {
            return self.let_in_anonymous(raw);
        }
        let claim = Claim::judge(core, policy, Some(self.mode), message, Side::Client)?;
        self.sent.progress.transcript.add(raw);
        let sent = self.sent;
        Ok(HandshakeNext::State(ServerState::Proof(Box::new(
            AwaitProof { sent, claim },
        ))))
    }

    /// Accepts a client without a certificate, which has nothing to prove (RFC 8446 §4.4.2.4).
    fn let_in_anonymous(mut self, raw: &[u8]) -> ServerStep {
        if self.sent.config.clients.is_required() {
            let reason = "the client has no certificate";
            return Err(Refusal::new(Alert::CertificateRequired, reason));
        }
        self.sent.progress.transcript.add(raw);
        let standing = ClaimStanding::Proved(Peer::anonymous());
        let sent = self.sent;
        let state = AwaitFinished { sent, standing };
        Ok(HandshakeNext::State(ServerState::Finished(Box::new(state))))
    }
}

#[derive(Debug)]
pub(crate) struct AwaitProof {
    sent: Sent,
    claim: Claim,
}

impl AwaitProof {
    fn receive(mut self, message: Message, raw: &[u8]) -> ServerStep {
        let mode = self.claim.mode();
        let profile = self.sent.config.common.profile;
        let proof = proof_in(message, mode, profile).ok_or(UNEXPECTED)?;
        let transcript = self.sent.progress.transcript.hash();
        let signed = to_sign(mode, profile, Side::Client, transcript.as_ref());
        let standing = self.claim.prove(proof, signed)?;
        self.sent.progress.transcript.add(raw);
        let sent = self.sent;
        let state = AwaitFinished { sent, standing };
        Ok(HandshakeNext::State(ServerState::Finished(Box::new(state))))
    }
}

#[derive(Debug)]
pub(crate) struct AwaitFinished {
    sent: Sent,
    standing: ClaimStanding,
}

impl AwaitFinished {
    fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> ServerStep {
        let Message::Finished(mac) = message else {
            return Err(UNEXPECTED);
        };
        let progress = &self.sent.progress;
        verify_finished(&progress.schedule.client, &progress.transcript, &mac)?;
        self.sent.progress.transcript.add(raw);
        core.set_read(self.sent.application.client.clone())?;
        let Self { sent, standing } = self;
        AwaitEvidence { sent, standing }.resume(core)
    }
}

#[derive(Debug)]
pub(crate) struct AwaitEvidence {
    sent: Sent,
    standing: ClaimStanding,
}

impl AwaitEvidence {
    fn resume(mut self, core: &mut Core) -> ServerStep {
        let policy = self.sent.config.clients.policy();
        self.standing = self.standing.settle(core, policy)?;
        match self.standing {
            ClaimStanding::Waiting(_) => {
                Ok(HandshakeNext::State(ServerState::Evidence(Box::new(self))))
            }
            ClaimStanding::Proved(peer) => {
                if let Some(issuing) = &self.sent.issuing {
                    issuing.send(core, &self.sent, &peer)?;
                }
                Ok(HandshakeNext::Done(Box::new(Done {
                    exporter: self.sent.application.exporter,
                    peer,
                    protocol: self.sent.progress.protocol,
                    cipher: self.sent.progress.cipher,
                    group: self.sent.progress.group,
                    tickets: None,
                })))
            }
        }
    }
}
