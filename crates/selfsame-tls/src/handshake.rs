//! Steps common to client and server once keys are agreed: show an identity, prove it, finish.

use selfsame_crypto::hash::ct_eq;

use crate::alert::{Alert, Refusal};
use crate::codec::{
    CertificateChain, CertificateEntry, CertificateVerify, DidMessage, Extensions, Message, Mode,
    SsiParameters, Vc, VcMessage,
};
use crate::core::Core;
use crate::identity::{CertificateIdentity, Peer, Side, SsiIdentity, to_sign};
use crate::named::{Group, Scheme, VcFormat};
use crate::profile::Profile;
use crate::provider::{Cipher, SigningKey};
use crate::resumption::Collector;
use crate::schedule::{Exporter, Handshake, Traffic};
use crate::transcript::Transcript;

/// TLS 1.3 in `supported_versions`.
pub(crate) const TLS_1_3: u16 = 0x0304;

/// The result of a step.
#[derive(Debug)]
pub(crate) enum HandshakeNext<S> {
    /// Another state of the handshake.
    State(S),
    /// The handshake is complete.
    Done(Box<Done>),
}

/// What remains of a handshake.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) exporter: Exporter,
    pub(crate) peer: Peer,
    pub(crate) protocol: Option<Vec<u8>>,
    pub(crate) cipher: Cipher,
    pub(crate) group: Group,
    /// Stores a client's tickets.
    pub(crate) tickets: Option<Collector>,
}

/// A handshake after both hellos.
#[derive(Debug)]
pub(crate) struct HandshakeProgress {
    pub(crate) cipher: Cipher,
    pub(crate) group: Group,
    pub(crate) transcript: Transcript,
    pub(crate) schedule: Handshake,
    pub(crate) protocol: Option<Vec<u8>>,
}

impl HandshakeProgress {
    pub(crate) fn new(
        cipher: Cipher,
        group: Group,
        transcript: Transcript,
        schedule: Handshake,
    ) -> Self {
        Self {
            cipher,
            group,
            transcript,
            schedule,
            protocol: None,
        }
    }

    /// Queues a message and adds it to the transcript.
    pub(crate) fn queue(&mut self, core: &mut Core, message: &Message) -> Result<(), Refusal> {
        let raw = core.queue(message)?;
        self.transcript.add(raw);
        Ok(())
    }

    /// The bytes that a proof signs at this point of the handshake.
    fn to_sign(&self, core: &Core, mode: Mode, side: Side) -> Vec<u8> {
        to_sign(mode, core.profile, side, self.transcript.hash().as_ref())
    }
}

/// An identity of ours, and the signature scheme to prove it with: one that the peer accepts.
pub(crate) struct Selected<'a, I> {
    pub(crate) identity: &'a I,
    pub(crate) scheme: Scheme,
}

impl<'a, I> Selected<'a, I> {
    /// `None` if the identity's key can use none of these schemes.
    pub(crate) fn new(identity: &'a I, key: &SigningKey, schemes: &[Scheme]) -> Option<Self> {
        let scheme = key.choose(schemes)?;
        Some(Self { identity, scheme })
    }
}

fn prove(key: &SigningKey, scheme: Scheme, message: &[u8]) -> Result<CertificateVerify, Refusal> {
    let signature = key.sign(scheme, message)?;
    Ok(CertificateVerify { scheme, signature })
}

/// Queues Certificate and CertificateVerify; without an identity, an empty Certificate. Adds revocation lists if the
/// peer reads them.
pub(crate) fn send_certificate(
    core: &mut Core,
    progress: &mut HandshakeProgress,
    own: Option<Selected<'_, CertificateIdentity>>,
    side: Side,
    reads_crls: bool,
) -> Result<(), Refusal> {
    let mut certificate = CertificateChain::default();
    if let Some(own) = &own {
        certificate.entries = own.identity.entries(reads_crls);
    }
    progress.queue(core, &Message::Certificate(certificate))?;
    if let Some(Selected { identity, scheme }) = own {
        let message = progress.to_sign(core, Mode::Certificate, side);
        let proof = prove(&identity.key, scheme, &message)?;
        progress.queue(core, &Message::CertificateVerify(proof))?;
    }
    Ok(())
}

/// The credential in a Certificate of that type (profile `draft`): exactly one entry, without extensions.
pub(crate) fn credential_in(
    certificate: CertificateChain,
    profile: &Profile,
) -> Result<Message, Refusal> {
    if !certificate.context.is_empty() {
        return Err(Refusal::illegal("a request context in a handshake"));
    }
    let mut entries = certificate.entries.into_iter();
    let (Some(entry), None) = (entries.next(), entries.next()) else {
        return Err(Refusal::decode("not exactly one credential"));
    };
    if !entry.extensions.0.is_empty() {
        let reason = "an extension that was not offered";
        return Err(Refusal::new(Alert::UnsupportedExtension, reason));
    }
    let format = profile.format.unwrap_or(VcFormat::COSE);
    let bytes = entry.data;
    Ok(Message::Vc(Vc { format, bytes }.into()))
}

/// The proof in a message, if it is of the type that follows an identity of this mode.
pub(crate) fn proof_in(
    message: Message,
    mode: Mode,
    profile: &Profile,
) -> Option<CertificateVerify> {
    let is_certificate = mode == Mode::Certificate || profile.certificate_type().is_some();
    match message {
        Message::CertificateVerify(proof) if is_certificate => Some(proof),
        Message::DidVerify(proof) if !is_certificate => Some(proof),
        _ => None,
    }
}

/// Queues VC or DID with the staples that the peer reads, then DIDVerify; in profile `draft`, a Certificate of that
/// type and CertificateVerify.
pub(crate) fn send_ssi(
    core: &mut Core,
    progress: &mut HandshakeProgress,
    own: Selected<'_, SsiIdentity>,
    asked: &SsiParameters,
    side: Side,
) -> Result<(), Refusal> {
    let mode = asked.mode;
    let Selected {
        identity: own,
        scheme,
    } = own;
    let staples = own.staples.get();
    let staples = staples
        .iter()
        .filter(|staple| asked.staples.contains(&staple.kind));
    let staples = staples.cloned().collect();
    let message = match (mode, &own.vc) {
        (Mode::Vc, Some(vc)) => {
            let vc = vc.clone();
            Message::Vc(VcMessage { vc, staples })
        }
        (Mode::Did, _) => {
            let did = DidMessage::new(&own.did, staples, core.profile);
            Message::Did(did.ok_or(Refusal::internal("the own DID can't be encoded"))?)
        }
        _ => return Err(Refusal::internal("there is no credential to present")),
    };
    let by_type = core.profile.certificate_type().is_some();
    let message = match message {
        Message::Vc(message) if by_type => {
            let entry = CertificateEntry {
                data: message.vc.bytes,
                extensions: Extensions::default(),
            };
            let entries = vec![entry];
            let context = Vec::new();
            Message::Certificate(CertificateChain { context, entries })
        }
        message => message,
    };
    progress.queue(core, &message)?;
    let proof = prove(&own.key, scheme, &progress.to_sign(core, mode, side))?;
    let proof = match by_type {
        true => Message::CertificateVerify(proof),
        false => Message::DidVerify(proof),
    };
    progress.queue(core, &proof)
}

/// Queues Finished and sends the flight.
pub(crate) fn send_finished(
    core: &mut Core,
    progress: &mut HandshakeProgress,
    traffic: &Traffic,
) -> Result<(), Refusal> {
    let transcript = progress.transcript.hash();
    let mac = traffic.finished(transcript.as_ref())?;
    progress.queue(core, &Message::Finished(mac))?;
    core.flush()
}

/// Verifies the peer's Finished (RFC 8446 §4.4.4) in constant time.
pub(crate) fn verify_finished(
    traffic: &Traffic,
    transcript: &Transcript,
    mac: &[u8],
) -> Result<(), Refusal> {
    let expected = traffic.finished(transcript.hash().as_ref())?;
    if mac.len() != expected.len() {
        return Err(Refusal::decode("a Finished of the wrong length"));
    }
    match ct_eq(&expected, mac) {
        true => Ok(()),
        false => Err(Refusal::new(
            Alert::DecryptError,
            "the Finished message is invalid",
        )),
    }
}
