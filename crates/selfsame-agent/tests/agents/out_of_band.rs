//! Invitations of out-of-band: reuse, attached requests, and what is refused.

use std::time::Duration;

use selfsame_agent::AgentSettings;
use selfsame_agent::connect::{NewOobInvitation, OobAnswer, OobInvitationView};
use selfsame_aries::trust_ping::{Ping, TrustPingMessage};
use selfsame_aries::wire::Vocabulary as _;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;

use tokio::net::TcpListener;

use super::world::{Common, Peer, all_of, invitation, two, two_of};

const EXCHANGE: &str = "https://didcomm.org/didexchange/1.1";

fn answer(use_existing_connection: bool) -> OobAnswer {
    OobAnswer {
        alias: None,
        auto_accept: true,
        use_existing_connection,
        label: None,
        key_seconds: None,
    }
}

/// A message that anyone answers.
fn ping() -> Message {
    let ping = TrustPingMessage::Ping(Ping::default());
    let kind = MessageType::new(TrustPingMessage::PROTOCOL, Semver::new(1, 0), ping.name());
    let mut message = Message::new(kind, "attached-1");
    ping.write(&mut message);
    message
}

async fn invited(peer: &Peer, new: NewOobInvitation) -> OobInvitationView {
    let invited = peer.agents.create_oob_invitation(&peer.tenant, new);
    invited.await.unwrap()
}

#[tokio::test]
async fn an_attached_request_is_answered_once_the_connection_is_ready() {
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE.to_owned()],
        requests: vec![ping()],
        auto_accept: true,
        ..NewOobInvitation::default()
    };
    let invited = invited(&clinic, new).await;
    assert!(invited.invitation["requests~attach"].is_array());
    let received = holder.agents.receive_oob_invitation(
        &holder.tenant,
        invitation(&invited.invitation),
        answer(false),
    );
    let received = received.await.unwrap();
    assert_eq!(received.state, "prepare-response");
    clinic.takes().await; // the request
    holder.takes().await; // the response
    clinic.takes().await; // what completes it
    clinic.takes().await; // the answer to the ping
    let done = holder
        .agents
        .oob_record(&holder.tenant, &received.oob_id)
        .await
        .unwrap();
    assert_eq!(done.state, "done");
    assert_eq!(done.attach_thread_id.as_deref(), Some("attached-1"));
    let ours = clinic
        .agents
        .oob_record(&clinic.tenant, &invited.oob_id)
        .await
        .unwrap();
    assert_eq!(ours.state, "done");
    assert_eq!(ours.connection_id, invited.connection_id);
}

#[tokio::test]
async fn a_connection_with_a_public_did_is_used_again() {
    let (mut clinic, mut holder) = two().await;
    let made = clinic
        .agents
        .create_did(&clinic.tenant, "did:peer:2")
        .await
        .unwrap();
    let did = made.did.parse().unwrap();
    let set = clinic.agents.set_public_did(&clinic.tenant, &did);
    set.await.unwrap();
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE.to_owned()],
        public: true,
        auto_accept: true,
        ..NewOobInvitation::default()
    };
    let first = invited(&clinic, new.clone()).await;
    let received = holder.agents.receive_oob_invitation(
        &holder.tenant,
        invitation(&first.invitation),
        answer(true),
    );
    let connected = received.await.unwrap().connection_id;
    clinic.takes().await;
    holder.takes().await;
    clinic.takes().await;
    holder.reaches("active").await;
    for requests in [Vec::new(), vec![ping()]] {
        let has_requests = !requests.is_empty();
        let new = NewOobInvitation {
            requests,
            ..new.clone()
        };
        let again = invited(&clinic, new).await;
        let received = holder.agents.receive_oob_invitation(
            &holder.tenant,
            invitation(&again.invitation),
            answer(true),
        );
        let received = received.await.unwrap();
        assert_eq!(received.state, "await-response");
        clinic.takes().await; // the wish to use the connection again
        holder.takes().await; // it is accepted
        if has_requests {
            clinic.takes().await; // the answer to the ping
        }
        let done = holder
            .agents
            .oob_record(&holder.tenant, &received.oob_id)
            .await
            .unwrap();
        assert_eq!((done.state, &done.connection_id), ("done", &connected));
    }
    // The connections that waited for a request are gone.
    assert_eq!(clinic.connections().await.len(), 1);
    assert_eq!(holder.connections().await.len(), 1);
}

#[tokio::test]
async fn many_use_an_invitation_for_many() {
    let (mut clinic, mut holder) = two().await;
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE.to_owned()],
        multi_use: true,
        auto_accept: true,
        ..NewOobInvitation::default()
    };
    let invited = invited(&clinic, new).await;
    for _ in 0..3 {
        let received = holder.agents.receive_oob_invitation(
            &holder.tenant,
            invitation(&invited.invitation),
            answer(false),
        );
        received.await.unwrap();
        clinic.takes().await;
        holder.takes().await;
        clinic.takes().await;
    }
    let mut states: Vec<_> = clinic
        .connections()
        .await
        .iter()
        .map(|one| one.state)
        .collect();
    states.sort_unstable();
    assert_eq!(states, ["active", "active", "active", "invitation"]);
    let removed = clinic
        .agents
        .remove_oob_invitation(&clinic.tenant, &invited.invi_msg_id);
    removed.await.unwrap();
    let paging = Paging::default();
    let left = clinic.agents.oob_records(&clinic.tenant, &paging);
    assert!(left.await.unwrap().items.is_empty());
}

#[tokio::test]
async fn an_invitation_that_offers_nothing_is_neither_made_nor_taken() {
    let (clinic, holder) = two().await;
    let kinds = [
        NewOobInvitation::default(),
        NewOobInvitation {
            handshake_protocols: vec!["https://didcomm.org/magic/1.0".to_owned()],
            ..NewOobInvitation::default()
        },
        NewOobInvitation {
            requests: vec![ping()],
            multi_use: true,
            ..NewOobInvitation::default()
        },
    ];
    for new in kinds {
        let refused = clinic.agents.create_oob_invitation(&clinic.tenant, new);
        assert_eq!(refused.await.unwrap_err().kind, ErrorKind::BadRequest);
    }
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE.to_owned()],
        ..NewOobInvitation::default()
    };
    let mut offered = invitation(&invited(&clinic, new).await.invitation);
    offered["handshake_protocols"] = serde_json::json!(["https://didcomm.org/magic/1.0"]);
    let refused = holder
        .agents
        .receive_oob_invitation(&holder.tenant, offered, answer(false));
    assert_eq!(refused.await.unwrap_err().kind, ErrorKind::BadRequest);
    assert!(holder.connections().await.is_empty());
}

/// Whether a request to an invitation of a clinic is sent to this listener of the machine, which only some may call.
async fn is_called(common: &Common, listener: &TcpListener, within: Duration) -> bool {
    let (clinic, holder) = two_of(common).await;
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE.to_owned()],
        ..NewOobInvitation::default()
    };
    let mut offered = invitation(&invited(&clinic, new).await.invitation);
    let inward = format!("http://{}/", listener.local_addr().unwrap());
    offered["services"][0]["serviceEndpoint"] = serde_json::json!(inward);
    let received = holder
        .agents
        .receive_oob_invitation(&holder.tenant, offered, answer(false));
    received.await.unwrap();
    assert_eq!(holder.reaches("request").await.rfc23_state, "request-sent");
    let called = tokio::time::timeout(within, listener.accept());
    called.await.is_ok()
}

#[tokio::test]
async fn an_invitation_that_points_inward_is_not_called() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let strict = Common::of(AgentSettings::default());
    assert!(!is_called(&strict, &listener, Duration::from_secs(1)).await);
    let inward = format!("http://{}/", listener.local_addr().unwrap());
    let inward: url::Url = inward.parse().unwrap();
    let trusting = Common::of(AgentSettings::default()).calling(inward.origin());
    assert!(is_called(&trusting, &listener, Duration::from_secs(60)).await);
}

#[tokio::test]
async fn a_connection_is_made_after_all_if_its_use_is_refused() {
    let common = Common::of(AgentSettings::default());
    let [mut clinic, mut holder, other] = all_of(["Clinic", "Holder", "Other"], &common).await;
    let made = clinic.agents.create_did(&clinic.tenant, "did:peer:2").await;
    let did = made.unwrap().did.parse().unwrap();
    let set = clinic.agents.set_public_did(&clinic.tenant, &did);
    set.await.unwrap();
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE.to_owned()],
        public: true,
        auto_accept: true,
        ..NewOobInvitation::default()
    };
    let first = invited(&clinic, new.clone()).await;
    let received = holder.agents.receive_oob_invitation(
        &holder.tenant,
        invitation(&first.invitation),
        answer(true),
    );
    let connected = received.await.unwrap().connection_id;
    for _ in 0..2 {
        clinic.takes().await;
        if holder.connections().await[0].state != "active" {
            holder.takes().await;
        }
    }
    holder.reaches("active").await;

    // Another agent has used the second invitation, which is for one.
    let second = invited(&clinic, new).await;
    let taken = other.agents.receive_oob_invitation(
        &other.tenant,
        invitation(&second.invitation),
        answer(false),
    );
    taken.await.unwrap();
    clinic.takes().await; // the other's request
    other.reaches("active").await;
    clinic.takes().await; // what completes it
    let received = holder.agents.receive_oob_invitation(
        &holder.tenant,
        invitation(&second.invitation),
        answer(true),
    );
    let received = received.await.unwrap();
    assert_eq!(received.state, "await-response");
    clinic.refuses().await; // the wish to use the connection again
    holder.takes().await; // the report
    let record = holder
        .agents
        .oob_record(&holder.tenant, &received.oob_id)
        .await
        .unwrap();
    assert_ne!(record.connection_id, connected);
    assert!(record.connection_id.is_some());
    assert_eq!(holder.connections().await.len(), 2);
    assert_eq!(holder.reaches("request").await.rfc23_state, "request-sent");
}
