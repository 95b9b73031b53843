//! DID exchange: by invitations of out-of-band, and by public DIDs.

use selfsame_agent::connect::{DidRequestWish, NewOobInvitation, OobAnswer, OwnDid, OwnSide};
use selfsame_agent::{AgentSettings, ConnectionView};
use selfsame_driver::ErrorKind;

use super::world::{Peer, invitation, two, two_with};

const EXCHANGE_1_0: &str = "https://didcomm.org/didexchange/1.0";
const EXCHANGE_1_1: &str = "https://didcomm.org/didexchange/1.1";
const CONNECTIONS_1_0: &str = "https://didcomm.org/connections/1.0";

fn answer(auto_accept: bool) -> OobAnswer {
    OobAnswer {
        alias: None,
        auto_accept,
        use_existing_connection: false,
        label: None,
        key_seconds: None,
    }
}

/// The clinic invites by this protocol, and the holder answers with a DID of this kind.
async fn connected(
    clinic: &mut Peer,
    holder: &mut Peer,
    protocol: &str,
    did: OwnDid,
) -> (ConnectionView, ConnectionView) {
    let new = NewOobInvitation {
        handshake_protocols: vec![protocol.to_owned()],
        auto_accept: true,
        alias: Some("Pacientes".to_owned()),
        ..NewOobInvitation::default()
    };
    let invited = clinic.agents.create_oob_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    let received = holder.agents.receive_oob_invitation(
        &holder.tenant,
        invitation(&invited.invitation),
        answer(false),
    );
    let received = received.await.unwrap();
    assert_eq!(received.state, "done");
    let id = received.connection_id.unwrap();
    let side = OwnSide {
        did,
        ..OwnSide::default()
    };
    let accepted = holder
        .agents
        .accept_connection_as(&holder.tenant, &id, side);
    assert_eq!(accepted.await.unwrap().rfc23_state, "request-sent");
    clinic.takes().await; // the request
    holder.takes().await; // the response
    clinic.takes().await; // what completes it
    let ours = clinic.reaches("active").await;
    let theirs = holder.reaches("active").await;
    assert_eq!(Some(&ours.connection_id), invited.connection_id.as_ref());
    (ours, theirs)
}

#[tokio::test]
async fn each_protocol_connects_with_each_kind_of_did() {
    let kinds = [
        (OwnDid::Suited, ""),
        (OwnDid::Peer2, "did:peer:2"),
        (OwnDid::Peer4, "did:peer:4"),
    ];
    for protocol in [EXCHANGE_1_0, EXCHANGE_1_1, CONNECTIONS_1_0] {
        for (kind, prefix) in kinds {
            let (mut clinic, mut holder) = two().await;
            let (ours, theirs) = connected(&mut clinic, &mut holder, protocol, kind).await;
            assert!(protocol.ends_with(&ours.connection_protocol));
            assert_eq!(ours.their_did, theirs.my_did);
            assert_eq!(ours.my_did, theirs.their_did);
            assert_eq!(ours.request_id, theirs.request_id);
            assert_eq!(ours.their_label.as_deref(), Some("Holder"));
            assert_eq!(theirs.their_label.as_deref(), Some("Clinic"));
            let (mine, yours) = (ours.my_did.unwrap(), theirs.my_did.unwrap());
            match protocol {
                CONNECTIONS_1_0 => assert!(!yours.starts_with("did:")),
                // Version 1.1 has DIDs that can be resolved.
                EXCHANGE_1_1 if kind == OwnDid::Suited => {
                    assert!(mine.starts_with("did:peer:2") && yours.starts_with("did:peer:2"));
                }
                _ => assert!(mine.starts_with(prefix) && yours.starts_with(prefix)),
            }
            let ping = clinic
                .agents
                .ping(&clinic.tenant, &ours.connection_id, None);
            ping.await.unwrap();
            holder.takes().await;
            clinic.takes().await;
        }
    }
}

async fn make_public(peer: &Peer, method: &str) -> selfsame_agent::connect::PublicDid {
    let made = peer.agents.create_did(&peer.tenant, method).await.unwrap();
    let did = made.did.parse().unwrap();
    let set = peer.agents.set_public_did(&peer.tenant, &did);
    set.await.unwrap()
}

#[tokio::test]
async fn a_public_did_is_asked_for_a_connection_without_an_invitation() {
    for open in [true, false] {
        let (mut clinic, mut holder) = two_with(AgentSettings {
            requests_through_public_did: open,
            auto_accept_requests: true,
            ..AgentSettings::default()
        })
        .await;
        let public = make_public(&clinic, "did:peer:2").await;
        let wish = DidRequestWish {
            their_did: public.did.clone(),
            alias: Some("The clinic".to_owned()),
            side: OwnSide::default(),
            minor_version: 1,
        };
        let asked = holder.agents.request_connection(&holder.tenant, wish);
        let asked = asked.await.unwrap();
        assert_eq!(asked.their_public_did.as_deref(), Some(public.did.as_str()));
        if !open {
            assert_eq!(clinic.refuses().await.kind, ErrorKind::NotFound);
            assert!(clinic.connections().await.is_empty());
            continue;
        }
        clinic.takes().await;
        holder.takes().await;
        clinic.takes().await;
        let (ours, theirs) = (
            clinic.reaches("active").await,
            holder.reaches("active").await,
        );
        assert_eq!(ours.my_did, theirs.their_did);
        assert_eq!(theirs.alias.as_deref(), Some("The clinic"));
    }
}

#[tokio::test]
async fn the_response_may_be_of_the_public_did_itself() {
    let (mut clinic, mut holder) = two_with(AgentSettings {
        requests_through_public_did: true,
        ..AgentSettings::default()
    })
    .await;
    let public = make_public(&clinic, "did:peer:4").await;
    let wish = DidRequestWish {
        their_did: public.did.clone(),
        alias: None,
        side: OwnSide::default(),
        minor_version: 0,
    };
    let asked = holder.agents.request_connection(&holder.tenant, wish);
    asked.await.unwrap();
    clinic.takes().await;
    let waiting = clinic.reaches("request").await;
    let side = OwnSide {
        did: OwnDid::Public,
        ..OwnSide::default()
    };
    let id = &waiting.connection_id;
    let accepted = clinic.agents.accept_connection_as(&clinic.tenant, id, side);
    accepted.await.unwrap();
    holder.takes().await;
    clinic.takes().await;
    let theirs = holder.reaches("active").await;
    assert_eq!(theirs.their_did.as_deref(), Some(public.did.as_str()));
    clinic.reaches("active").await;
}

#[tokio::test]
async fn a_request_that_is_rejected_ends_on_both_sides() {
    for protocol in [EXCHANGE_1_0, EXCHANGE_1_1, CONNECTIONS_1_0] {
        let (mut clinic, mut holder) = two().await;
        let new = NewOobInvitation {
            handshake_protocols: vec![protocol.to_owned()],
            ..NewOobInvitation::default()
        };
        let invited = clinic.agents.create_oob_invitation(&clinic.tenant, new);
        let invited = invited.await.unwrap();
        let received = holder.agents.receive_oob_invitation(
            &holder.tenant,
            invitation(&invited.invitation),
            answer(true),
        );
        received.await.unwrap();
        clinic.takes().await;
        let waiting = clinic.reaches("request").await;
        let rejected = clinic.agents.reject_connection(
            &clinic.tenant,
            &waiting.connection_id,
            Some("We are closed.".to_owned()),
        );
        assert_eq!(rejected.await.unwrap().rfc23_state, "abandoned");
        holder.takes().await;
        let told = holder.reaches("error").await;
        assert!(told.error_msg.unwrap().contains("We are closed."));
    }
}

#[tokio::test]
async fn an_agent_without_a_public_did_invites_by_none() {
    let (clinic, _) = two().await;
    let new = NewOobInvitation {
        handshake_protocols: vec![EXCHANGE_1_1.to_owned()],
        public: true,
        ..NewOobInvitation::default()
    };
    let refused = clinic.agents.create_oob_invitation(&clinic.tenant, new);
    assert_eq!(refused.await.unwrap_err().kind, ErrorKind::BadRequest);
    let foreign = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH";
    let foreign = foreign.parse().unwrap();
    let refused = clinic.agents.set_public_did(&clinic.tenant, &foreign);
    assert_eq!(refused.await.unwrap_err().kind, ErrorKind::BadRequest);
}
