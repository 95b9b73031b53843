//! What a receiver does with an invitation (RFC 0434, "Responses").

use selfsame_didcomm::message::{MessageType, Semver};

use super::messages::{OobInvitation, OobService};

/// What a receiver has and speaks.
#[derive(Clone, Copy, Debug)]
pub struct Ability<'a> {
    /// Whether it has a connection that was made with one of the invitation's DIDs, and wants to use it again.
    pub has_connection: bool,
    /// The protocols by which it makes connections, each as a type with the latest version.
    pub handshakes: &'a [MessageType],
    /// Whether it can answer a message of this type.
    pub speaks: fn(&MessageType) -> bool,
}

/// What to do with an invitation.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Make a connection, then answer the request with this number, if there is one.
    Connect {
        /// A type of the protocol, in the version that both know, with the invitation's prefix.
        kind: MessageType,
        /// Where.
        service: OobService,
        /// The number of the attached request to answer then.
        request: Option<usize>,
    },
    /// Ask to use the connection that exists again.
    Reuse,
    /// Answer the attached request with this number on the connection that exists.
    AnswerOnConnection(usize),
    /// Answer the attached request with this number at this service, without a connection. If the sender is to answer,
    /// the answer has a `~service` decorator (RFC 0056).
    AnswerAlone {
        /// The number of the request.
        request: usize,
        /// Where.
        service: OobService,
    },
    /// Nothing of what is offered is spoken here.
    Unsupported,
}

/// What to do with an invitation, by the table of RFC 0434.
pub fn plan(invitation: &OobInvitation, ability: &Ability<'_>) -> Plan {
    let mut requests = invitation.requests.iter();
    let request = requests.position(|request| (ability.speaks)(&request.kind));
    let handshakes = invitation.handshake_protocols.iter();
    let kind = handshakes
        .filter_map(|offered| spoken(offered, ability.handshakes))
        .next();
    let has_handshakes = !invitation.handshake_protocols.is_empty();
    let Some(service) = invitation.service().cloned() else {
        return Plan::Unsupported;
    };
    match (has_handshakes, request, ability.has_connection) {
        (_, Some(request), true) => Plan::AnswerOnConnection(request),
        (true, None, true) if invitation.requests.is_empty() => Plan::Reuse,
        (true, request, false) if request.is_some() || invitation.requests.is_empty() => match kind
        {
            Some(kind) => Plan::Connect {
                kind,
                service,
                request,
            },
            None => Plan::Unsupported,
        },
        (false, Some(request), false) => Plan::AnswerAlone { request, service },
        _ => Plan::Unsupported,
    }
}

/// The type of a protocol that is offered by its identifier, such as `https://didcomm.org/didexchange/1.0`, if it is
/// spoken.
fn spoken(offered: &str, handshakes: &[MessageType]) -> Option<MessageType> {
    let name = "request";
    let offered = MessageType::parse(&format!("{}/{name}", offered.trim_end_matches('/'))).ok()?;
    let ours = handshakes
        .iter()
        .find(|ours| offered.is_of(&ours.protocol, ours.version.major))?;
    let version: Semver = ours.version.common(offered.version)?;
    Some(offered.with_version(version))
}
