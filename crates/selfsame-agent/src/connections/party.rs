//! This side of a connection, as the connection and its protocol want it.

use selfsame_aries::connection::ConnectionRole;
use selfsame_did::Did;
use selfsame_didcomm::Version;
use selfsame_driver::Result;
use selfsame_mediation::own_side::{self, NewParty, OwnDid, OwnSide, OwnTerms, PartyWish};
use selfsame_store::TenantId;

use super::ConnectionEntry;
use crate::parts::{AgentParts, AgentTerms};
use selfsame_mediation::given::ConnectionWhat;

/// What the connection and the input ask for.
pub fn wish(entry: &ConnectionEntry, what: &ConnectionWhat, side: OwnSide) -> PartyWish {
    let label = side.label.clone().or_else(|| entry.label.clone());
    let received = match what {
        ConnectionWhat::Received(received) => Some(received),
        _ => None,
    };
    let told = received.and_then(|received| received.party());
    let theirs = told.or_else(|| entry.record.theirs.clone());
    if entry.is_v2() {
        // The DID of the invitation tells what its sender reads.
        let invited_by = entry.record.invitation_did.clone();
        let theirs = theirs.map(|theirs| theirs.did).or(invited_by);
        let did = match OwnDid::suiting(theirs.as_deref().unwrap_or_default()) {
            _ if matches!(side.did, OwnDid::Peer2 | OwnDid::Peer4) => side.did,
            OwnDid::Peer4 => OwnDid::Peer4,
            _ => OwnDid::Peer2,
        };
        return PartyWish {
            side: OwnSide { did, label, ..side },
            with_doc: false,
            version: Version::V2,
        };
    }
    let known = &entry.record.dialogue.kind;
    let kind = received.map_or(known, |received| received.kind());
    let is_inviter = entry.record.role == ConnectionRole::Inviter;
    let theirs = theirs.filter(|_| is_inviter);
    let is_exchange = kind.protocol == "didexchange";
    // Version 1.1 wants a DID that can be resolved (RFC 0023), and agents of it may know no other.
    let requests = match is_exchange && kind.version.minor > 0 {
        true => OwnDid::Peer2,
        false => OwnDid::Unqualified,
    };
    let suited = theirs.map_or(requests, |theirs| OwnDid::suiting(&theirs.did));
    let is_rotating = matches!(what, ConnectionWhat::Rotate(_));
    let did = match (is_exchange, side.did) {
        // A new DID is told without its document (RFC 0794).
        (_, OwnDid::Suited | OwnDid::Unqualified) if is_rotating => OwnDid::Peer4,
        (_, other) if is_rotating => other,
        (false, _) => OwnDid::Unqualified,
        (true, OwnDid::Suited) => suited,
        (true, other) => other,
    };
    PartyWish {
        side: OwnSide { did, label, ..side },
        with_doc: is_inviter && kind.version.minor == 0 && !is_rotating,
        version: Version::V1,
    }
}

/// Makes this side.
///
/// # Errors
/// As [`own_side::make`].
pub async fn make(agent: &AgentParts, tenant: &TenantId, wish: PartyWish) -> Result<NewParty> {
    let terms = agent.terms(tenant);
    own_side::make(&agent.shared, &own_terms(tenant, &terms), wish).await
}

/// This side with a DID whose key the agent holds.
///
/// # Errors
/// As [`own_side::held`].
pub async fn held(agent: &AgentParts, tenant: &TenantId, did: &Did) -> Result<NewParty> {
    let terms = agent.terms(tenant);
    own_side::held(&agent.shared, &own_terms(tenant, &terms), did).await
}

/// How an agent calls itself and where it takes messages.
pub fn own_terms<'a>(tenant: &'a TenantId, terms: &'a AgentTerms) -> OwnTerms<'a> {
    OwnTerms {
        tenant,
        label: &terms.label,
        endpoint: &terms.endpoint,
        socket: terms.socket.as_ref(),
    }
}

/// Makes a DID of this kind with services of this version, for no connection in particular.
///
/// # Errors
/// As [`make`].
pub async fn make_did(
    agent: &AgentParts,
    tenant: &TenantId,
    did: OwnDid,
    version: Version,
) -> Result<NewParty> {
    let wish = PartyWish {
        side: OwnSide {
            did,
            ..OwnSide::default()
        },
        with_doc: false,
        version,
    };
    make(agent, tenant, wish).await
}
