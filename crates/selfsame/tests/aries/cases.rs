//! What our agent and a peer do with each other, each side in each role.

use serde_json::{Value, json};

use crate::admin::{AdminApi, text};
use crate::connecting::{Connected, Handshake, connect};
use crate::hearing::Controller;
use crate::issuing::{
    Issued, Offer, PRESCRIPTION, Published, await_done, await_registry, issue, publish, revoke,
};
use crate::peer::Meeting;
use crate::proving::{Asked, proves};

/// The format that both have for AnonCreds with qualified names (RFC 0771).
const FORMAT: &str = "anoncreds";
const EXCHANGE: Handshake = Handshake::DidExchange("1.1");

/// Each side invites, and both talk.
#[track_caller]
pub fn meet(meeting: &Meeting, handshakes: &[Handshake]) {
    let Meeting { ours, peer, .. } = meeting;
    for handshake in handshakes {
        let connected = connect(&ours.admin, &peer.admin, *handshake);
        greet(&ours.admin, &connected.inviters, &peer.heard);
        greet(&peer.admin, &connected.invitees, &ours.heard);
        let connected = connect(&peer.admin, &ours.admin, *handshake);
        greet(&ours.admin, &connected.invitees, &peer.heard);
        greet(&peer.admin, &connected.inviters, &ours.heard);
    }
}

/// Sends a basic message and a trust ping.
#[track_caller]
fn greet(from: &AdminApi, connection: &str, heard: &Controller) {
    let content = format!("Hello over {connection}");
    let path = format!("/connections/{connection}/send-message");
    from.post(&path, &json!({ "content": content }));
    heard.hears("basicmessages", |said| said["content"] == content.as_str());
    let path = format!("/connections/{connection}/send-ping");
    let sent = from.post(&path, &json!({"comment": "are you there?"}));
    let thread = text(&sent["thread_id"]);
    heard.hears("ping", |said| said["thread_id"] == thread.as_str());
}

/// The body that moves an agent to a new DID of its own.
#[track_caller]
pub fn new_did(agent: &AdminApi) -> Value {
    let made = agent.post("/wallet/did/create", &json!({"method": "did:peer:4"}));
    json!({"to_did": made["result"]["did"]})
}

/// The peer moves to another DID; messages in both directions go on.
#[track_caller]
pub fn peer_moves(meeting: &Meeting, to: impl FnOnce(&AdminApi) -> Value) {
    let Meeting { ours, peer, .. } = meeting;
    let connected = connect(&ours.admin, &peer.admin, EXCHANGE);
    let Connected { inviters, invitees } = &connected;
    let path = format!("/connections/{inviters}");
    let before = ours.admin.get(&path);
    let rotate = format!("/did-rotate/{invitees}/rotate");
    peer.admin.post(&rotate, &to(&peer.admin));
    ours.admin
        .until(&path, |now| now["their_did"] != before["their_did"]);
    greet(&peer.admin, invitees, &ours.heard);
    greet(&ours.admin, inviters, &peer.heard);
}

/// Our agent moves to another DID; messages in both directions go on.
#[track_caller]
pub fn ours_moves(meeting: &Meeting) {
    let Meeting { ours, peer, .. } = meeting;
    let connected = connect(&peer.admin, &ours.admin, EXCHANGE);
    let Connected { inviters, invitees } = &connected;
    let path = format!("/connections/{inviters}");
    let before = peer.admin.get(&path);
    let rotate = format!("/did-rotate/{invitees}/rotate");
    ours.admin.post(&rotate, &new_did(&ours.admin));
    peer.admin
        .until(&path, |now| now["their_did"] != before["their_did"]);
    greet(&ours.admin, invitees, &peer.heard);
    greet(&peer.admin, inviters, &ours.heard);
}

/// Our issuer's credential, which the peer holds and we verify, is revoked.
#[track_caller]
pub fn peer_holds(meeting: &Meeting) {
    let Meeting { ours, peer, .. } = meeting;
    let published = publish(&ours.admin, &ours.admin.public_did(), PRESCRIPTION, true);
    let connected = connect(&ours.admin, &peer.admin, EXCHANGE);
    let issued = issue(&ours.admin, &peer.admin, &connected, &offer(&published));
    await_done(&ours.admin, &issued);
    let proven = || proves(&ours.admin, &peer.admin, &connected, &asked(&published));
    assert!(proven());
    let further = notified(&connected);
    revoke(&ours.admin, "/revocation/revoke", &issued, &further);
    peer.heard.hears("revocation-notification-v2", |_| true);
    assert!(!proven());
}

/// The peer's credential, which we hold and the peer verifies, is revoked.
#[track_caller]
pub fn peer_issues(meeting: &Meeting) {
    let Meeting { ours, peer, .. } = meeting;
    let published = publish(&peer.admin, &peer.did, PRESCRIPTION, true);
    await_registry(&peer.admin, &published);
    let connected = connect(&ours.admin, &peer.admin, EXCHANGE).seen_by_invitee();
    let issued = issue(&peer.admin, &ours.admin, &connected, &offer(&published));
    await_done(&peer.admin, &issued);
    let proven = || proves(&peer.admin, &ours.admin, &connected, &asked(&published));
    assert!(proven());
    let (path, further) = ("/anoncreds/revocation/revoke", notified(&connected));
    revoke(&peer.admin, path, &issued, &further);
    hears_of_revocation(&ours.admin, &ours.heard, &issued);
    assert!(!proven());
}

fn offer(published: &Published) -> Offer<'_> {
    Offer {
        published,
        said: PRESCRIPTION,
        format: FORMAT,
        is_requested: false,
        auto_remove: false,
    }
}

fn asked(published: &Published) -> Asked<'_> {
    Asked {
        published,
        attributes: &["medication_name", "medication_dose"],
        at_least: ("expiration", 20_220_301),
        unrevoked: true,
        format: FORMAT,
    }
}

/// What an issuer adds to a revocation so that the holder is told (RFC 0721).
fn notified(connected: &Connected) -> Value {
    json!({
        "notify": true, "notify_version": "v2_0", "connection_id": connected.inviters,
    })
}

/// The holder's controller is told, and the record of the exchange says so.
#[track_caller]
fn hears_of_revocation(holder: &AdminApi, heard: &Controller, issued: &Issued) {
    heard.hears("revocation-notification-v2", |_| true);
    let path = format!("/issue-credential-2.0/records/{}", issued.holders);
    holder.until(&path, |one| {
        one["cred_ex_record"]["state"] == "credential-revoked"
    });
}
