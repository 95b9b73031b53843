//! The table of protocols. To add one, add its folder and its line here (docs/extend/aries-protocol.md).

use selfsame_didcomm::message::{MessageType, Semver};

use crate::connections::ConnectionMessage;
use crate::did_exchange::DidExchangeMessage;
use crate::issue_credential::IssueSpeech;
use crate::out_of_band::OobMessage;
use crate::present_proof::ProofSpeech;
use crate::trust_ping::TrustPingMessage;
use crate::wire::Vocabulary;

/// A protocol that an agent speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Protocol {
    /// Its name, as message types have it.
    pub name: &'static str,
    /// The latest supported minor version of each supported major version.
    pub versions: &'static [Semver],
    /// The roles that an agent can have in it.
    pub roles: &'static [&'static str],
    /// The RFC of each major version.
    pub rfcs: &'static [&'static str],
}

impl Protocol {
    const fn of<M: Vocabulary>(
        roles: &'static [&'static str],
        rfcs: &'static [&'static str],
    ) -> Self {
        Self {
            name: M::PROTOCOL,
            versions: M::VERSIONS,
            roles,
            rfcs,
        }
    }

    /// Its identifiers, such as `https://didcomm.org/trust_ping/1.0` (RFC 0003, "PIURI").
    pub fn identifiers(&self) -> impl Iterator<Item = String> {
        let identifiers = self.versions.iter().map(|version| {
            let kind = MessageType::new(self.name, *version, "").to_string();
            kind.trim_end_matches('/').to_owned()
        });
        identifiers
    }
}

/// The protocols that an agent speaks.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol::of::<ConnectionMessage>(&["inviter", "invitee"], &["0160"]),
    Protocol::of::<OobMessage>(&["sender", "receiver"], &["0434"]),
    Protocol::of::<DidExchangeMessage>(&["responder", "requester"], &["0023"]),
    Protocol::of::<IssueSpeech>(&["issuer", "holder"], &["0453", "0036"]),
    Protocol::of::<ProofSpeech>(&["verifier", "prover"], &["0454", "0037"]),
    Protocol::of::<TrustPingMessage>(&["sender", "receiver"], &["0048"]),
];

/// The protocol of a type of message, in whatever version.
pub fn find(kind: &MessageType) -> Option<&'static Protocol> {
    let mut all = PROTOCOLS.iter();
    all.find(|protocol| kind.is_of(protocol.name, kind.version.major))
}
