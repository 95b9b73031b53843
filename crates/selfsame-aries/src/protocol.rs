//! The table of protocols. To add one, add its folder and its line here (docs/extend/aries-protocol.md).

use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};

use crate::basic_message::BasicMessage;
use crate::connections::ConnectionMessage;
use crate::coordinate_mediation::MediationMessage;
use crate::did_exchange::DidExchangeMessage;
use crate::did_rotate::RotateMessage;
use crate::discover_features::{Feature, FeatureMessage};
use crate::issue_credential::IssueSpeech;
use crate::message_pickup::PickupMessage;
use crate::notification::NotificationMessage;
use crate::out_of_band::OobMessage;
use crate::present_proof::ProofSpeech;
use crate::revocation_notification::RevocationMessage;
use crate::trust_ping::TrustPingMessage;
use crate::wire::{Incoming, Unreadable, Vocabulary};

/// A protocol that an agent speaks.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Its name, as message types have it.
    pub name: &'static str,
    /// The latest supported minor version of each supported major version.
    pub versions: &'static [Semver],
    /// The roles that an agent can have in it.
    pub roles: &'static [&'static str],
    /// The RFC of each major version, in the order of the versions.
    pub rfcs: &'static [&'static str],
    /// Reads a message of the protocol and writes it again, to see that it can be read.
    pub reread: fn(&Message) -> Result<Message, Unreadable>,
}

impl Protocol {
    /// The protocol of these messages.
    pub const fn of<M: Vocabulary>(
        roles: &'static [&'static str],
        rfcs: &'static [&'static str],
    ) -> Self {
        Self {
            name: M::PROTOCOL,
            versions: M::VERSIONS,
            roles,
            rfcs,
            reread: reread::<M>,
        }
    }

    /// Whether it has messages of this type, in a version that is spoken.
    pub fn speaks(&self, kind: &MessageType) -> bool {
        let mut versions = self.versions.iter();
        kind.is_of(self.name, kind.version.major)
            && versions.any(|ours| ours.common(kind.version).is_some())
    }

    /// What is said of it to who asks for features (RFC 0557).
    pub fn features(&self) -> impl Iterator<Item = Feature> {
        self.identifiers().map(|id| Feature {
            feature_type: "protocol".to_owned(),
            id,
            roles: self.roles.iter().map(|role| (*role).to_owned()).collect(),
        })
    }

    /// Its identifiers, such as `https://didcomm.org/trust_ping/1.0` (RFC 0003, "PIURI").
    pub fn identifiers(&self) -> impl Iterator<Item = String> {
        self.versions.iter().map(|version| {
            let kind = MessageType::new(self.name, *version, "").to_string();
            kind.trim_end_matches('/').to_owned()
        })
    }
}

fn reread<M: Vocabulary>(message: &Message) -> Result<Message, Unreadable> {
    let read: Incoming<M> = Incoming::read(message)?;
    let mut written = Message::new(read.kind.sibling(read.content.name()), read.id);
    written.thread = message.thread.clone();
    read.content.write(&mut written);
    Ok(written)
}

/// The protocols that an agent speaks. Forwarding (RFC 0094) is the envelopes' (selfsame-didcomm).
pub const PROTOCOLS: &[Protocol] = &[
    Protocol::of::<ConnectionMessage>(&["inviter", "invitee"], &["0160"]),
    Protocol::of::<OobMessage>(&["sender", "receiver"], &["0434"]),
    Protocol::of::<DidExchangeMessage>(&["responder", "requester"], &["0023"]),
    Protocol::of::<IssueSpeech>(&["issuer", "holder"], &["0453", "0036"]),
    Protocol::of::<ProofSpeech>(&["verifier", "prover"], &["0454", "0037"]),
    Protocol::of::<TrustPingMessage>(&["sender", "receiver"], &["0048"]),
    Protocol::of::<BasicMessage>(&["sender", "receiver"], &["0095"]),
    Protocol::of::<NotificationMessage>(&["sender", "receiver"], &["0015"]),
    Protocol::of::<FeatureMessage>(&["requester", "responder"], &["0557", "0031"]),
    Protocol::of::<RevocationMessage>(&["issuer", "holder"], &["0721", "0183"]),
    Protocol::of::<MediationMessage>(&["mediator", "recipient"], &["0211"]),
    Protocol::of::<PickupMessage>(&["mediator", "recipient"], &["0685"]),
    Protocol::of::<RotateMessage>(&["rotating_party", "observing_party"], &["0794"]),
];

/// The protocol of a type of message, in a version that is spoken.
pub fn find(kind: &MessageType) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| protocol.speaks(kind))
}

/// What the table says to who asks for features (RFC 0557).
pub fn features() -> Vec<Feature> {
    PROTOCOLS.iter().flat_map(Protocol::features).collect()
}
