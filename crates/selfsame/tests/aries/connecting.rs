//! Connections of two agents, as ACA-Py's controllers make them.

use serde_json::{Value, json};

use crate::admin::{AdminApi, text};

/// How two agents become a connection.
#[derive(Clone, Copy, Debug)]
pub enum Handshake {
    /// Connections 1.0 (RFC 0160), by an invitation of its own.
    Connections,
    /// DID exchange in this version (RFC 0023), by an invitation of out-of-band (RFC 0434).
    DidExchange(&'static str),
}

/// The identifiers of a connection at both sides.
pub struct Connected {
    pub inviters: String,
    pub invitees: String,
}

impl Connected {
    /// The same connection, as if the invitee had invited.
    pub fn seen_by_invitee(self) -> Self {
        Self {
            inviters: self.invitees,
            invitees: self.inviters,
        }
    }
}

/// Connects the two.
#[track_caller]
pub fn connect(inviter: &AdminApi, invitee: &AdminApi, handshake: Handshake) -> Connected {
    match handshake {
        Handshake::Connections => {
            let connected = by_connections(inviter, invitee);
            let at = |id: &str| format!("/connections/{id}");
            inviter.until(&at(&connected.inviters), is_usable);
            invitee.until(&at(&connected.invitees), is_usable);
            connected
        }
        Handshake::DidExchange(version) => by_invitation(inviter, invitee, version),
    }
}

/// Calls 1 to 3 of the study's plans, and 7 to 9. Those after it wait until the connection can be used.
#[track_caller]
pub fn by_connections(inviter: &AdminApi, invitee: &AdminApi) -> Connected {
    let path = "/connections/create-invitation?alias=Pacientes&auto_accept=true";
    let made = inviter.post(path, &json!({}));
    let taken = invitee.post("/connections/receive-invitation", &made["invitation"]);
    let invitees = text(&taken["connection_id"]);
    let path = format!("/connections/{invitees}/accept-invitation");
    invitee.post(&path, &Value::Null);
    Connected {
        inviters: text(&made["connection_id"]),
        invitees,
    }
}

#[track_caller]
fn by_invitation(inviter: &AdminApi, invitee: &AdminApi, version: &str) -> Connected {
    let protocol = format!("https://didcomm.org/didexchange/{version}");
    let made = inviter.post(
        "/out-of-band/create-invitation?auto_accept=true",
        &json!({"handshake_protocols": [protocol], "alias": "crossed"}),
    );
    let path = "/out-of-band/receive-invitation?auto_accept=true";
    let taken = invitee.post(path, &made["invitation"]);
    let invitees = text(&taken["connection_id"]);
    let id = text(&made["invi_msg_id"]);
    let path = format!("/connections?invitation_msg_id={id}");
    let inviters = inviter.awaited(&path, is_ready);
    invitee.until(&format!("/connections/{invitees}"), is_ready);
    Connected {
        inviters: text(&inviters["connection_id"]),
        invitees,
    }
}

/// A connection of connections 1.0 can be used once there is a response. Only a message after it completes it.
fn is_usable(connection: &Value) -> bool {
    let state = connection["rfc23_state"].as_str().unwrap_or_default();
    ["completed", "response-received", "response-sent"].contains(&state)
}

fn is_ready(connection: &Value) -> bool {
    connection["rfc23_state"] == "completed"
}
