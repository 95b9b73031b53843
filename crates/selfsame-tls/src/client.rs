//! The client: its states, and the message that each awaits (RFC 8446 §A.1, docs/tls.md).

mod finish;
mod hello;
mod resume;
mod types;

use std::sync::Arc;

use crate::alert::{Alert, Refusal};
use crate::codec::{CertificateRequest, Extensions, Message, Mode, SsiParameters};
use crate::config::ClientConfig;
use crate::core::Core;
use crate::handshake::{HandshakeNext, HandshakeProgress, proof_in, verify_finished};
use crate::identity::{Claim, ClaimStanding, Peer, Side, to_sign};
use crate::named::Scheme;
use crate::schedule::Application;

use hello::AwaitServerHello;
use types::Chosen;

/// The message that the client awaits.
#[derive(Debug)]
pub(crate) enum ClientState {
    /// ServerHello or HelloRetryRequest.
    ServerHello(Box<AwaitServerHello>),
    /// EncryptedExtensions.
    EncryptedExtensions(Box<AwaitEncryptedExtensions>),
    /// A request, or the server's identity.
    Identity(Box<AwaitIdentity>),
    /// CertificateVerify or DIDVerify.
    Proof(Box<AwaitProof>),
    /// Finished.
    Finished(Box<AwaitFinished>),
    /// Evidence about the server; we have sent nothing since the hello.
    Evidence(Box<AwaitEvidence>),
}

pub(crate) type ClientStep = Result<HandshakeNext<ClientState>, Refusal>;

/// Sends the hello.
pub(crate) fn start(
    core: &mut Core,
    config: &Arc<ClientConfig>,
    ctx: &selfsame_crypto::ctx::Ctx,
) -> Result<ClientState, Refusal> {
    AwaitServerHello::start(core, config, ctx)
        .map(|state| ClientState::ServerHello(Box::new(state)))
}

impl ClientState {
    /// Takes the next message, whose bytes are `raw`.
    pub(crate) fn receive(self, core: &mut Core, message: Message, raw: &[u8]) -> ClientStep {
        match self {
            Self::ServerHello(state) => state.receive(core, message, raw),
            Self::EncryptedExtensions(state) => state.receive(core, message, raw),
            Self::Identity(state) => state.receive(core, message, raw),
            Self::Proof(state) => state.receive(message, raw),
            Self::Finished(state) => state.receive(core, message, raw),
            Self::Evidence(_) => Err(UNEXPECTED),
        }
    }

    /// Checks whether evidence has arrived.
    pub(crate) fn resume(self, core: &mut Core) -> ClientStep {
        match self {
            Self::Proof(mut state) => {
                state.claim.advance(core, &state.config.server)?;
                Ok(HandshakeNext::State(Self::Proof(state)))
            }
            Self::Finished(mut state) => {
                state.standing.advance(core, Some(&state.config.server))?;
                Ok(HandshakeNext::State(Self::Finished(state)))
            }
            Self::Evidence(state) => state.resume(core),
            other => Ok(HandshakeNext::State(other)),
        }
    }

    pub(crate) fn is_suspended(&self) -> bool {
        matches!(self, Self::Evidence(_))
    }
}

const UNEXPECTED: Refusal = Refusal::unexpected("a message that the client does not expect here");

/// What the server asks of the client.
#[derive(Debug)]
pub(crate) enum RequestedCertificate {
    Certificate {
        schemes: Vec<Scheme>,
        /// Whether the server reads revocation lists.
        reads_crls: bool,
    },
    Ssi {
        asked: SsiParameters,
        schemes: Vec<Scheme>,
    },
}

#[derive(Debug)]
pub(crate) struct AwaitEncryptedExtensions {
    config: Arc<ClientConfig>,
    progress: HandshakeProgress,
    /// The server, if the handshake resumes, and the status epoch in which it was proved.
    resumed: Option<(Peer, u64)>,
    /// Early data, if it was offered.
    early: Option<resume::Sent>,
}

impl AwaitEncryptedExtensions {
    fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> ClientStep {
        let Message::EncryptedExtensions(extensions) = message else {
            return Err(UNEXPECTED);
        };
        self.progress.protocol = hello::check_encrypted(&extensions, &self.config)?;
        let chosen = Chosen::read(&extensions, &self.config)?;
        core.early.is_taken = match &self.early {
            Some(sent) => sent.is_taken(&extensions, self.progress.protocol.as_ref())?,
            None => resume::check_no_early(&extensions)?,
        };
        if self.early.is_some() && !core.early.is_taken {
            core.early.room = 0;
            core.set_write(self.progress.schedule.client.clone())?;
        }
        self.progress.transcript.add(raw);
        // In a handshake that resumes, no identity is shown or asked for (§2.2).
        if let Some((peer, epoch)) = self.resumed {
            return Ok(HandshakeNext::State(ClientState::Finished(Box::new(
                AwaitFinished {
                    config: self.config,
                    progress: self.progress,
                    request: None,
                    standing: ClaimStanding::Proved(peer),
                    epoch,
                },
            ))));
        }
        Ok(HandshakeNext::State(ClientState::Identity(Box::new(
            AwaitIdentity {
                config: self.config,
                progress: self.progress,
                chosen,
                request: None,
            },
        ))))
    }
}

#[derive(Debug)]
pub(crate) struct AwaitIdentity {
    config: Arc<ClientConfig>,
    progress: HandshakeProgress,
    chosen: Chosen,
    request: Option<RequestedCertificate>,
}

impl AwaitIdentity {
    fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> ClientStep {
        match (message, &self.request) {
            (Message::CertificateRequest(request), None) => {
                let kind = certificate_request(&request)?;
                self.request = Some(self.chosen.request(kind, &request, &self.config)?);
            }
            (Message::SsiRequest(extensions), None) => {
                let offered = self.config.ssi.as_ref();
                let offered =
                    offered.ok_or(Refusal::unexpected("an SSIRequest that was not requested"))?;
                self.request = Some(ssi_request(&extensions, offered)?);
            }
            (message @ (Message::Certificate(_) | Message::Vc(_) | Message::Did(_)), _) => {
                let mode = self.config.ssi.as_ref().map(|ssi| ssi.mode);
                let message = self.chosen.shown(message, core.profile)?;
                let policy = &self.config.server;
                let claim = Claim::judge(core, policy, mode, message, Side::Server)?;
                self.progress.transcript.add(raw);
                return Ok(HandshakeNext::State(ClientState::Proof(Box::new(
                    AwaitProof {
                        config: self.config,
                        progress: self.progress,
                        request: self.request,
                        claim,
                    },
                ))));
            }
            _ => return Err(UNEXPECTED),
        }
        self.progress.transcript.add(raw);
        Ok(HandshakeNext::State(ClientState::Identity(Box::new(self))))
    }
}

/// Reads a CertificateRequest (RFC 8446 §4.3.2).
fn certificate_request(request: &CertificateRequest) -> Result<RequestedCertificate, Refusal> {
    if !request.context.is_empty() {
        return Err(Refusal::illegal("a request context in a handshake"));
    }
    Ok(RequestedCertificate::Certificate {
        schemes: schemes(&request.extensions)?,
        reads_crls: request.extensions.reads_crls(),
    })
}

/// Reads an SSIRequest: if we offered a mode of DIDs, it has that mode and no methods but those offered (paper §IV-B).
fn ssi_request(
    extensions: &Extensions,
    offered: &SsiParameters,
) -> Result<RequestedCertificate, Refusal> {
    let wanted = extensions.ssi().ok_or(Refusal::new(
        Alert::MissingExtension,
        "an SSIRequest without ssi_parameters",
    ))?;
    let schemes = schemes(extensions)?;
    let fits = match offered.mode {
        Mode::Certificate => wanted.mode != Mode::Certificate,
        Mode::Did | Mode::Vc => {
            let mut methods = wanted.methods.iter();
            wanted.mode == offered.mode && methods.all(|method| offered.methods.contains(method))
        }
    };
    match fits {
        true => Ok(RequestedCertificate::Ssi {
            asked: wanted.clone(),
            schemes,
        }),
        false => Err(Refusal::illegal(
            "an SSIRequest with a mode or methods that were not offered",
        )),
    }
}

fn schemes(extensions: &Extensions) -> Result<Vec<Scheme>, Refusal> {
    let schemes = extensions.schemes().map(<[Scheme]>::to_vec);
    schemes.ok_or(Refusal::new(
        Alert::MissingExtension,
        "a request without signature_algorithms",
    ))
}

#[derive(Debug)]
pub(crate) struct AwaitProof {
    config: Arc<ClientConfig>,
    progress: HandshakeProgress,
    request: Option<RequestedCertificate>,
    claim: Claim,
}

impl AwaitProof {
    fn receive(mut self, message: Message, raw: &[u8]) -> ClientStep {
        let mode = self.claim.mode();
        let profile = self.config.common.profile;
        let proof = proof_in(message, mode, profile).ok_or(UNEXPECTED)?;
        let transcript = self.progress.transcript.hash();
        let signed = to_sign(mode, profile, Side::Server, transcript.as_ref());
        let standing = self.claim.prove(proof, signed)?;
        self.progress.transcript.add(raw);
        let epoch = self.config.common.epoch();
        Ok(HandshakeNext::State(ClientState::Finished(Box::new(
            AwaitFinished {
                config: self.config,
                progress: self.progress,
                request: self.request,
                standing,
                epoch,
            },
        ))))
    }
}

#[derive(Debug)]
pub(crate) struct AwaitFinished {
    config: Arc<ClientConfig>,
    progress: HandshakeProgress,
    request: Option<RequestedCertificate>,
    standing: ClaimStanding,
    epoch: u64,
}

impl AwaitFinished {
    fn receive(mut self, core: &mut Core, message: Message, raw: &[u8]) -> ClientStep {
        let Message::Finished(mac) = message else {
            return Err(UNEXPECTED);
        };
        let progress = &mut self.progress;
        verify_finished(&progress.schedule.server, &progress.transcript, &mac)?;
        progress.transcript.add(raw);
        let transcript = progress.transcript.hash();
        let application = progress.schedule.application(transcript.as_ref())?;
        core.set_read(application.server.clone())?;
        let state = AwaitEvidence {
            config: self.config,
            progress: self.progress,
            request: self.request,
            standing: self.standing,
            epoch: self.epoch,
            application,
        };
        state.resume(core)
    }
}

#[derive(Debug)]
pub(crate) struct AwaitEvidence {
    config: Arc<ClientConfig>,
    progress: HandshakeProgress,
    request: Option<RequestedCertificate>,
    standing: ClaimStanding,
    epoch: u64,
    application: Application,
}

impl AwaitEvidence {
    fn resume(mut self, core: &mut Core) -> ClientStep {
        let policy = Some(&self.config.server);
        self.standing = self.standing.settle(core, policy)?;
        match self.standing {
            ClaimStanding::Waiting(_) => {
                Ok(HandshakeNext::State(ClientState::Evidence(Box::new(self))))
            }
            ClaimStanding::Proved(peer) => {
                let (config, request) = (&self.config, self.request.as_ref());
                let flight = finish::Flight {
                    config,
                    request,
                    epoch: self.epoch,
                };
                flight.send(core, self.progress, self.application, peer)
            }
        }
    }
}
