//! Client data: what the browser says of the ceremony (§5.8.1).

use selfsame_crypto::encoding::base64url_decode;
use selfsame_crypto::json::{self, Limits};
use serde::Deserialize;

use crate::error::PasskeyError;

const LIMITS: Limits = Limits {
    max_bytes: 4 * 1024,
    max_depth: 8,
    max_members: 64,
};

/// A ceremony.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CeremonyKind {
    /// A passkey is created.
    Registration,
    /// A passkey answers.
    Authentication,
}

impl CeremonyKind {
    /// What client data call it (§5.8.1).
    const fn as_str(self) -> &'static str {
        match self {
            Self::Registration => "webauthn.create",
            Self::Authentication => "webauthn.get",
        }
    }
}

/// What the browser says of a ceremony. The authenticator's signature covers its hash.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ClientData {
    /// The ceremony.
    pub kind: CeremonyKind,
    /// The challenge that it answers.
    pub challenge: Vec<u8>,
    /// The origin of the page that asked, as browsers write it.
    pub origin: String,
    /// Whether the page was within a page of another origin.
    pub is_framed: bool,
}

/// The members that are read. Browsers add others, at times by chance (§5.8.1).
#[derive(Deserialize)]
struct CollectedMembers {
    #[serde(rename = "type")]
    kind: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    cross_origin: bool,
    #[serde(default, rename = "topOrigin")]
    top_origin: Option<String>,
}

impl ClientData {
    /// Reads client data: one JSON object without a byte order mark, in which no member stands twice.
    ///
    /// # Errors
    /// `Malformed`, and `OtherCeremony` for a type that is no ceremony.
    pub fn read(bytes: &[u8]) -> Result<Self, PasskeyError> {
        let malformed = PasskeyError::Malformed("client data");
        let members: CollectedMembers = json::parse_as(bytes, &LIMITS).map_err(|_| malformed)?;
        let kinds = [CeremonyKind::Registration, CeremonyKind::Authentication];
        let mut kinds = kinds.into_iter();
        let kind = kinds.find(|kind| kind.as_str() == members.kind);
        Ok(Self {
            kind: kind.ok_or(PasskeyError::OtherCeremony)?,
            challenge: base64url_decode(&members.challenge).map_err(|_| malformed)?,
            origin: members.origin,
            is_framed: members.cross_origin || members.top_origin.is_some(),
        })
    }
}
