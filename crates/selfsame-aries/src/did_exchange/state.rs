//! The table of states of DID exchange.

use crate::advance::Move;
use crate::connection::ConnectionRole::{self, Invitee, Inviter};
use crate::connection::ConnectionState::{
    self, Abandoned, Completed, Invitation, Request, Response,
};
use crate::connection::Handshake;

/// The state after a message; `None` if the table does not allow the message (RFC 0023, "State Machine Tables").
///
/// After a problem report the table has two states: this one, if the exchange is given up, or the earlier one, if the
/// same message may be sent again.
pub fn next(
    role: ConnectionRole,
    from: Option<ConnectionState>,
    moved: Move<Handshake>,
) -> Option<ConnectionState> {
    use Move::{Receives, Sends};
    Some(match (role, from, moved) {
        (Invitee, None, Receives(Handshake::Invitation)) => Invitation,
        (Invitee, Some(Invitation), Sends(Handshake::Request)) => Request,
        (Invitee, Some(Request), Receives(Handshake::Response)) => Response,
        (Invitee, Some(Response), Sends(Handshake::Complete)) => Completed,
        (Invitee, Some(Request), Receives(Handshake::Report)) => Abandoned,
        (Invitee, Some(Invitation | Response), Sends(Handshake::Report)) => Abandoned,
        (Inviter, None, Sends(Handshake::Invitation)) => Invitation,
        (Inviter, Some(Invitation), Receives(Handshake::Request)) => Request,
        (Inviter, Some(Request), Sends(Handshake::Response)) => Response,
        (Inviter, Some(Response), Receives(Handshake::Complete)) => Completed,
        (Inviter, Some(Invitation | Response), Receives(Handshake::Report)) => Abandoned,
        (Inviter, Some(Request), Sends(Handshake::Report)) => Abandoned,
        _ => return None,
    })
}
