//! How this agent presents itself in a connection.

use selfsame_aries::connection::DidWithDoc;
use selfsame_aries::key::VerKey;
use selfsame_did::Did;
use selfsame_did::method::peer;
use selfsame_driver::{Error, Result};
use selfsame_store::Batch;
use url::Url;

/// The names by which controllers ask for a DID without a method.
const UNQUALIFIED: [&str; 2] = ["sov", "did:sov"];

/// How this agent presents itself in a connection.
#[derive(Clone, Debug, Default)]
pub struct OwnSide {
    /// How it calls itself, if not by its own name.
    pub label: Option<String>,
    /// Where it takes messages, if not at its own endpoint.
    pub endpoint: Option<Url>,
    /// Its DID.
    pub did: OwnDid,
}

/// Which DID this agent has in a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OwnDid {
    /// One of the kind that the peer has; for a request, `did:peer:2`, or one without a method where the protocol knows
    /// no other.
    #[default]
    Suited,
    /// One without a method, with its document beside it (RFC 0793).
    Unqualified,
    /// `did:peer:2`.
    Peer2,
    /// `did:peer:4`.
    Peer4,
    /// The public one.
    Public,
}

impl OwnDid {
    /// The kind by its name in ACA-Py's `use_did_method`.
    ///
    /// # Errors
    /// `BadRequest` for another name.
    pub fn of_method(name: &str) -> Result<Self> {
        let kind = name.strip_prefix(&peer::METHOD.scheme());
        match kind.and_then(|kind| kind.strip_prefix(':')) {
            Some("2") => Ok(Self::Peer2),
            Some("4") => Ok(Self::Peer4),
            _ if UNQUALIFIED.contains(&name) => Ok(Self::Unqualified),
            _ => Err(Error::bad_request("aries-did-method").with("method", &name)),
        }
    }

    /// The identifier of the record of the DID of this kind that invitations have in common.
    pub fn common_id(self) -> &'static str {
        match self {
            Self::Suited => "suited",
            Self::Unqualified => "unqualified",
            Self::Peer2 => "peer-2",
            Self::Peer4 => "peer-4",
            Self::Public => "public",
        }
    }

    /// The kind that suits a peer with this DID.
    pub fn suiting(did: &str) -> Self {
        let did: Option<Did> = did.parse().ok();
        let id = did
            .as_ref()
            .filter(|did| did.method() == peer::METHOD.name)
            .and_then(|did| did.method_id().chars().next());
        match id {
            Some('2') => Self::Peer2,
            Some('4') => Self::Peer4,
            _ => Self::Unqualified,
        }
    }
}

/// This side, made for a step.
pub struct NewParty {
    pub key: VerKey,
    pub party: DidWithDoc,
    pub label: String,
    pub writes: Batch,
}
