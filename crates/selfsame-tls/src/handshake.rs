//! What client and server do alike once keys are agreed: show an identity, prove it, finish.

use selfsame_crypto::hash::ct_eq;

use crate::alert::{Alert, Refusal};
use crate::codec::{Certificate, DidMessage, Message, Mode, Proof, SsiParameters, VcMessage};
use crate::core::Core;
use crate::identity::{CertificateIdentity, Peer, Side, SsiIdentity, to_sign};
use crate::named::{Group, Scheme};
use crate::provider::{Cipher, SigningKey};
use crate::resumption::Collector;
use crate::schedule::{Exporter, Handshake, Traffic};
use crate::transcript::Transcript;

/// TLS 1.3 in `supported_versions`.
pub(crate) const TLS_1_3: u16 = 0x0304;

/// What a step leads to.
#[derive(Debug)]
pub(crate) enum Next<S> {
    /// Another state of the handshake.
    State(S),
    /// The end of the handshake.
    Done(Box<Done>),
}

/// What is left of a handshake.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) exporter: Exporter,
    pub(crate) peer: Peer,
    pub(crate) protocol: Option<Vec<u8>>,
    pub(crate) cipher: Cipher,
    pub(crate) group: Group,
    /// Where a client's tickets go.
    pub(crate) tickets: Option<Collector>,
}

/// A handshake after both hellos.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) cipher: Cipher,
    pub(crate) group: Group,
    pub(crate) transcript: Transcript,
    pub(crate) schedule: Handshake,
    pub(crate) protocol: Option<Vec<u8>>,
}

impl Progress {
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
        self.transcript.add(&raw);
        Ok(())
    }

    fn sign(
        &self,
        core: &Core,
        (key, scheme): (&SigningKey, Scheme),
        (mode, side): (Mode, Side),
    ) -> Result<Proof, Refusal> {
        let transcript = self.transcript.hash();
        let message = to_sign(mode, core.profile, side, transcript.as_ref());
        let signature = key.sign(scheme, &message)?;
        Ok(Proof { scheme, signature })
    }
}

/// Queues Certificate and CertificateVerify; without an identity, an empty Certificate.
pub(crate) fn send_certificate(
    core: &mut Core,
    progress: &mut Progress,
    own: Option<(&CertificateIdentity, Scheme)>,
    side: Side,
) -> Result<(), Refusal> {
    let mut certificate = Certificate::default();
    if let Some((own, _)) = own {
        certificate.entries.clone_from(&own.chain);
    }
    progress.queue(core, &Message::Certificate(certificate))?;
    if let Some((own, scheme)) = own {
        let proof = progress.sign(core, (&own.key, scheme), (Mode::Certificate, side))?;
        progress.queue(core, &Message::CertificateVerify(proof))?;
    }
    Ok(())
}

/// Queues VC or DID, with the staples the peer can read, and DIDVerify.
pub(crate) fn send_ssi(
    core: &mut Core,
    progress: &mut Progress,
    (own, scheme): (&SsiIdentity, Scheme),
    (asked, side): (&SsiParameters, Side),
) -> Result<(), Refusal> {
    let mode = asked.mode;
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
            Message::Did(did.ok_or(Refusal::internal("our DID cannot be written"))?)
        }
        _ => return Err(Refusal::internal("there is no credential to show")),
    };
    progress.queue(core, &message)?;
    let proof = progress.sign(core, (&own.key, scheme), (mode, side))?;
    progress.queue(core, &Message::DidVerify(proof))
}

/// Queues Finished and sends the flight.
pub(crate) fn send_finished(
    core: &mut Core,
    progress: &mut Progress,
    traffic: &Traffic,
) -> Result<(), Refusal> {
    let transcript = progress.transcript.hash();
    let mac = traffic.finished(transcript.as_ref())?;
    progress.queue(core, &Message::Finished(mac))?;
    core.flush()
}

/// Whether the peer's Finished holds (RFC 8446 §4.4.4), in constant time.
pub(crate) fn verify_finished(
    traffic: &Traffic,
    transcript: &Transcript,
    mac: &[u8],
) -> Result<(), Refusal> {
    let expected = traffic.finished(transcript.hash().as_ref())?;
    if mac.len() != expected.len() {
        return Err(Refusal::decode(
            "a Finished of another length than the hash",
        ));
    }
    match ct_eq(&expected, mac) {
        true => Ok(()),
        false => Err(Refusal::new(Alert::DecryptError, "Finished does not hold")),
    }
}
