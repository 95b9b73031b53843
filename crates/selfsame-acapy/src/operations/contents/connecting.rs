//! Connections and what needs no more than one.

use crate::operation::{AdminOperation, LIST, delete, flag, get, post, tagged, text};
use crate::operations::{
    connection, did_exchange, did_rotate, discovering, mediation, messaging, out_of_band,
};

/// Connections, and connections 1.0.
pub fn connections() -> Vec<AdminOperation> {
    tagged(
        "connection",
        vec![
            get("/connections", connection::list)
                .does("The connections")
                .asks(&[
                    text("alias"),
                    text("connection_protocol"),
                    text("invitation_key"),
                    text("invitation_msg_id"),
                    text("my_did"),
                    text("state"),
                    text("their_did"),
                    text("their_public_did"),
                    text("their_role"),
                ])
                .asks(&LIST),
            post(
                "/connections/create-invitation",
                connection::create_invitation,
            )
            .does("Make an invitation of connections 1.0")
            .asks(&[
                text("alias"),
                flag("auto_accept"),
                flag("multi_use"),
                flag("public"),
            ]),
            post(
                "/connections/receive-invitation",
                connection::receive_invitation,
            )
            .does("Take an invitation of connections 1.0")
            .asks(&[text("alias"), flag("auto_accept"), text("mediation_id")]),
            get("/connections/{conn_id}", connection::show).does("A connection"),
            delete("/connections/{conn_id}", connection::remove).does("Remove a connection"),
            post(
                "/connections/{conn_id}/accept-invitation",
                connection::accept,
            )
            .does("Send the request for an invitation")
            .asks(&[text("my_endpoint"), text("my_label"), text("mediation_id")]),
            post("/connections/{conn_id}/accept-request", connection::accept)
                .does("Answer a request")
                .asks(&[text("my_endpoint")]),
            get("/connections/{conn_id}/endpoints", connection::endpoints)
                .does("The endpoints of both sides"),
            get("/connections/{conn_id}/metadata", connection::metadata)
                .does("What was noted of a connection")
                .asks(&[text("key")]),
            post("/connections/{conn_id}/metadata", connection::note)
                .does("Note something of a connection"),
        ],
    )
}

/// Messages without records.
pub fn messages() -> Vec<AdminOperation> {
    let ping = post("/connections/{conn_id}/send-ping", messaging::ping);
    let message = post("/connections/{conn_id}/send-message", messaging::send);
    [
        tagged("trustping", vec![ping.does("Send a trust ping")]),
        tagged("basicmessage", vec![message.does("Send a text")]),
    ]
    .concat()
}

/// Invitations of out-of-band.
pub fn out_of_band() -> Vec<AdminOperation> {
    tagged(
        "out-of-band",
        vec![
            post("/out-of-band/create-invitation", out_of_band::create)
                .does("Make an invitation")
                .asks(&[
                    flag("auto_accept"),
                    flag("multi_use"),
                    flag("create_unique_did"),
                ]),
            post("/out-of-band/receive-invitation", out_of_band::receive)
                .does("Take an invitation")
                .asks(&[
                    text("alias"),
                    flag("auto_accept"),
                    flag("use_existing_connection"),
                    text("mediation_id"),
                ]),
            get("/out-of-band/records", out_of_band::list)
                .does("The invitations, made and received")
                .asks(&[
                    text("state"),
                    text("role"),
                    text("connection_id"),
                    text("invi_msg_id"),
                ])
                .asks(&LIST),
            get("/out-of-band/invitations", out_of_band::show)
                .does("An invitation")
                .asks(&[text("oob_id")]),
            delete(
                "/out-of-band/invitations/{invi_msg_id}",
                out_of_band::remove,
            )
            .does("Remove an invitation, with the connection that waits for its answer"),
        ],
    )
}

/// DID exchange.
pub fn did_exchange() -> Vec<AdminOperation> {
    let side = [
        text("my_endpoint"),
        text("my_label"),
        text("use_did_method"),
    ];
    tagged(
        "did-exchange",
        vec![
            post("/didexchange/create-request", did_exchange::create_request)
                .does("Ask the subject of a public DID for a connection")
                .asks(&[
                    text("their_public_did"),
                    text("alias"),
                    text("protocol"),
                    flag("use_public_did"),
                ])
                .asks(&side),
            post(
                "/didexchange/receive-request",
                did_exchange::receive_request,
            )
            .does("Take a request to the public DID"),
            post(
                "/didexchange/{conn_id}/accept-invitation",
                did_exchange::accept,
            )
            .does("Send the request for an invitation")
            .asks(&side),
            post(
                "/didexchange/{conn_id}/accept-request",
                did_exchange::accept,
            )
            .does("Answer a request")
            .asks(&[text("my_endpoint"), flag("use_public_did")]),
            post("/didexchange/{conn_id}/reject", did_exchange::reject)
                .does("Refuse a request, an invitation or a response"),
        ],
    )
}

/// DID rotate, and what peers can do.
pub fn rotation_and_features() -> Vec<AdminOperation> {
    let rotation = vec![
        post("/did-rotate/{conn_id}/rotate", did_rotate::rotate)
            .does("Change the agent's DID in a connection"),
        post("/did-rotate/{conn_id}/hangup", did_rotate::hang_up).does("End a connection"),
    ];
    let first = vec![
        get("/discover-features/query", discovering::ask_first)
            .does("Ask what a peer can do, or the agent itself")
            .asks(&[text("connection_id"), text("query"), text("comment")]),
        get("/discover-features/records", discovering::list_first)
            .does("The questions that were asked")
            .asks(&[text("connection_id")]),
    ];
    let latest = vec![
        get("/discover-features-2.0/queries", discovering::ask)
            .does("Ask what a peer can do, or the agent itself")
            .asks(&[
                text("connection_id"),
                text("query_protocol"),
                text("query_goal_code"),
            ]),
        get("/discover-features-2.0/records", discovering::list)
            .does("The questions that were asked")
            .asks(&[text("connection_id")]),
    ];
    [
        tagged("did-rotate", rotation),
        tagged("discover-features", first),
        tagged("discover-features v2.0", latest),
    ]
    .concat()
}

/// Mediation for peers.
pub fn mediating() -> Vec<AdminOperation> {
    tagged(
        "mediation",
        vec![
            get("/mediation/requests", mediation::list)
                .does("The mediations that peers asked for")
                .asks(&[text("conn_id"), text("state")])
                .asks(&LIST),
            get("/mediation/requests/{mediation_id}", mediation::show).does("A mediation"),
            delete("/mediation/requests/{mediation_id}", mediation::remove)
                .does("Remove a mediation"),
            post("/mediation/requests/{mediation_id}/grant", mediation::grant)
                .does("Grant mediation"),
            post("/mediation/requests/{mediation_id}/deny", mediation::deny)
                .does("Deny mediation, or end it"),
            get("/mediation/keylists", mediation::keylists)
                .does("The keys whose messages are taken")
                .asks(&[text("conn_id"), text("role")]),
        ],
    )
}
