//! The messages of out-of-band.

use selfsame_didcomm::Message;
use selfsame_didcomm::message::{Attachment, Semver, Version};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::key::VerKey;
use crate::notification::ProblemReport;
use crate::wire::{self, Unreadable, Vocabulary};

/// The member of the attached requests.
const REQUESTS: &str = "requests";
/// Services, handshake protocols and requests of one invitation, at most.
const LIST_MAX: usize = 16;
/// The maximum length of an attached request.
const REQUEST_MAX: usize = 256 * 1024;
/// The type of a service that DIDComm messages go to; one without a type is of this one (RFC 0434, "The services
/// item").
const SERVICE_TYPE: &str = "did-communication";

/// A message of out-of-band.
#[derive(Clone, Debug, PartialEq)]
pub enum OobMessage {
    /// `invitation`.
    Invitation(OobInvitation),
    /// `handshake-reuse`.
    Reuse,
    /// `handshake-reuse-accepted`.
    ReuseAccepted,
    /// `problem_report`.
    Report(ProblemReport),
}

/// An invitation.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct OobInvitation {
    /// How the sender calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The address of a picture of the sender, which agents show.
    #[serde(
        default,
        rename = "imageUrl",
        alias = "image_url",
        skip_serializing_if = "Option::is_none"
    )]
    pub image_url: Option<String>,
    /// What the sender wants, for programs (RFC 0519).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal_code: Option<String>,
    /// What the sender wants, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// The media types that the sender takes, the preferred one first.
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub accept: Vec<String>,
    /// The protocols by which a connection can be made, the preferred one first, such as
    /// `https://didcomm.org/didexchange/1.1`.
    #[serde(
        default,
        deserialize_with = "wire::or_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub handshake_protocols: Vec<String>,
    /// Where to answer, the preferred one first.
    pub services: Vec<OobService>,
    /// First messages of protocols, one of which can be answered: each the members of a message. They are attachments
    /// on the wire.
    #[serde(skip)]
    pub requests: Vec<Message>,
}

/// Where an invitation can be answered.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OobService {
    /// A DID that can be resolved.
    Did(String),
    /// Keys at an endpoint.
    Inline(InlineService),
}

/// A service that is written out.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InlineService {
    /// Its identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its type.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The keys that an answer is encrypted for; the first signs the response. RFC 0434 writes them as `did:key`.
    #[serde(with = "as_dids")]
    pub recipient_keys: Vec<VerKey>,
    /// The keys of mediators, in the order in which they wrap a message.
    #[serde(with = "as_dids", default, skip_serializing_if = "Vec::is_empty")]
    pub routing_keys: Vec<VerKey>,
    /// A URL, or the DID of an agency.
    pub service_endpoint: String,
}

/// Keys as `did:key`.
mod as_dids {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::key::VerKey;

    pub(super) fn serialize<S: Serializer>(
        keys: &[VerKey],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let dids: Vec<String> = keys.iter().map(|key| key.to_did().to_string()).collect();
        dids.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<VerKey>, D::Error> {
        let keys: Option<Vec<VerKey>> = Deserialize::deserialize(deserializer)?;
        Ok(keys.unwrap_or_default())
    }
}

impl OobService {
    /// Whether DIDComm messages go there.
    pub fn is_usable(&self) -> bool {
        match self {
            Self::Did(_) => true,
            Self::Inline(service) => service.is_usable(),
        }
    }
}

impl OobInvitation {
    /// The first service that can be used.
    pub fn service(&self) -> Option<&OobService> {
        self.services.iter().find(|service| service.is_usable())
    }

    /// The key that signs the response: that of the service, if it is written out.
    pub fn key(&self) -> Option<&VerKey> {
        match self.service()? {
            OobService::Did(_) => None,
            OobService::Inline(service) => service.recipient_keys.first(),
        }
    }

    /// The DIDs among its services. A connection that was made with one of them can be used again (RFC 0434,
    /// "Reuse Messages").
    pub fn dids(&self) -> impl Iterator<Item = &str> {
        self.services.iter().filter_map(|service| match service {
            OobService::Did(did) => Some(did.as_str()),
            OobService::Inline(_) => None,
        })
    }

    fn read(message: &Message) -> Result<Self, Unreadable> {
        let body: Self = wire::body(message)?;
        let requests: Vec<&Attachment> = message.attached(REQUESTS).collect();
        let lists = [
            body.services.len(),
            body.handshake_protocols.len(),
            requests.len(),
            body.accept.len(),
        ];
        if lists.into_iter().any(|length| length > LIST_MAX) {
            return Err(Unreadable::Rule(
                "the invitation has too many services, protocols or requests",
            ));
        }
        // RFC 0434, "Invitation": at least one of both MUST be included.
        if requests.is_empty() && body.handshake_protocols.is_empty() {
            return Err(Unreadable::Rule(
                "the invitation has neither handshake protocols nor requests",
            ));
        }
        let is_without_key = body.services.iter().any(|service| match service {
            OobService::Did(_) => false,
            OobService::Inline(service) => service.is_usable() && service.recipient_keys.is_empty(),
        });
        if body.service().is_none() || is_without_key {
            return Err(Unreadable::Rule(
                "the invitation has no service that can be used",
            ));
        }
        let requests = requests
            .into_iter()
            .map(attached)
            .collect::<Result<_, _>>()?;
        Ok(Self { requests, ..body })
    }

    fn write(&self, message: &mut Message) {
        wire::put_body(message, self);
        let requests = self.requests.iter().enumerate().map(|(number, request)| {
            let members = Value::Object(request.to_members(Version::V1));
            let attachment = Attachment::of_json(format!("request-{number}"), members);
            attachment.of_type("application/json").in_list(REQUESTS)
        });
        message.attachments.extend(requests);
    }
}

impl InlineService {
    fn is_usable(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == SERVICE_TYPE)
    }
}

/// An attached request: the first message of a protocol.
fn attached(attachment: &Attachment) -> Result<Message, Unreadable> {
    let bytes = attachment.bytes(REQUEST_MAX)?;
    Ok(Message::read(&bytes, Version::V1)?)
}

impl Vocabulary for OobMessage {
    const PROTOCOL: &'static str = "out-of-band";
    const VERSIONS: &'static [Semver] = &[Semver::new(1, 1)];

    fn read(message: &Message) -> Result<Self, Unreadable> {
        match message.kind.name.as_str() {
            "invitation" => OobInvitation::read(message).map(Self::Invitation),
            "handshake-reuse" => Ok(Self::Reuse),
            "handshake-reuse-accepted" => Ok(Self::ReuseAccepted),
            _ if wire::is_report(&message.kind) => Ok(Self::Report(ProblemReport::read(message))),
            _ => Err(Unreadable::Name),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Invitation(_) => "invitation",
            Self::Reuse => "handshake-reuse",
            Self::ReuseAccepted => "handshake-reuse-accepted",
            Self::Report(_) => "problem_report",
        }
    }

    fn write(&self, message: &mut Message) {
        match self {
            Self::Invitation(invitation) => invitation.write(message),
            Self::Reuse | Self::ReuseAccepted => {}
            Self::Report(report) => report.write(message),
        }
    }
}
