//! The table of states of connections 1.0.

use crate::advance::Move;
use crate::connection::ConnectionRole::{self, Invitee, Inviter};
use crate::connection::ConnectionState::{
    self, Abandoned, Completed, Invitation, Request, Response,
};
use crate::connection::Handshake;

/// The state after a message; `None` if the table does not allow the message (RFC 0160, "State Machine Tables").
///
/// After an error that is not to be repeated the connection is abandoned; where the table returns to an earlier state,
/// that is for an error after which the same message may be sent again.
pub fn next(
    role: ConnectionRole,
    from: Option<ConnectionState>,
    moved: Move<Handshake>,
) -> Option<ConnectionState> {
    use Move::{Receives, Sends};
    Some(match (role, from, moved) {
        (Inviter, None, Sends(Handshake::Invitation)) => Invitation,
        (Inviter, Some(Invitation), Receives(Handshake::Request)) => Request,
        (Inviter, Some(Request), Sends(Handshake::Response)) => Response,
        (Inviter, Some(Response | Completed), Receives(Handshake::Complete)) => Completed,
        (Inviter, Some(Request), Sends(Handshake::Report)) => Abandoned,
        (Inviter, Some(Response), Receives(Handshake::Report)) => Abandoned,
        (Invitee, None, Receives(Handshake::Invitation)) => Invitation,
        (Invitee, Some(Invitation), Sends(Handshake::Request)) => Request,
        (Invitee, Some(Request), Receives(Handshake::Response)) => Response,
        (Invitee, Some(Response), Sends(Handshake::Complete)) => Completed,
        // What the peer says after its response shows that it has the connection.
        (Invitee, Some(Response | Completed), Receives(Handshake::Complete)) => Completed,
        // RFC 0160, "Errors": the request was not accepted; after the response, this side does not accept that.
        (Invitee, Some(Request), Receives(Handshake::Report)) => Abandoned,
        (Invitee, Some(Request | Response), Sends(Handshake::Report)) => Abandoned,
        _ => return None,
    })
}
