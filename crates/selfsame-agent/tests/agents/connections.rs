//! Connections 1.0, and what strangers send.

use selfsame_agent::{InvitationAnswer, NewInvitation};
use selfsame_driver::ErrorKind;
use selfsame_store::TenantId;

use super::world::{invitation, two};

#[tokio::test]
async fn two_agents_connect_by_an_invitation_and_ping_each_other() {
    let (mut clinic, mut holder) = two().await;
    let new = NewInvitation {
        alias: Some("Pacientes".to_owned()),
        auto_accept: true,
        ..NewInvitation::default()
    };
    let invited = clinic.agents.create_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    let taken = holder.agents.receive_invitation(
        &holder.tenant,
        invitation(&invited.invitation),
        InvitationAnswer::default(),
    );
    let taken = taken.await.unwrap();
    assert_eq!(
        (taken.state, taken.rfc23_state),
        ("invitation", "invitation-received")
    );
    assert_eq!(taken.their_label.as_deref(), Some("Clinic"));
    let id = &taken.connection_id;
    let accepted = holder
        .agents
        .accept_connection(&holder.tenant, id)
        .await
        .unwrap();
    assert_eq!(accepted.state, "request");
    clinic.takes().await; // the request
    holder.takes().await; // the response, which is confirmed by a ping
    clinic.takes().await; // that ping, which wants no answer
    let [ours] = &clinic.connections().await[..] else {
        panic!("one connection");
    };
    let theirs = holder.agents.connection(&holder.tenant, id).await.unwrap();
    assert_eq!((ours.state, theirs.state), ("active", "active"));
    assert_eq!(ours.connection_id, invited.connection_id);
    assert_eq!(ours.alias.as_deref(), Some("Pacientes"));
    assert_eq!(ours.their_label.as_deref(), Some("Holder"));
    assert_eq!(ours.their_did, theirs.my_did);
    assert_eq!(ours.my_did, theirs.their_did);
    let ping = clinic
        .agents
        .ping(&clinic.tenant, &ours.connection_id, None);
    ping.await.unwrap();
    holder.takes().await;
    clinic.takes().await;
}

#[tokio::test]
async fn many_connect_by_one_invitation_for_many() {
    let (mut clinic, mut holder) = two().await;
    let new = NewInvitation {
        auto_accept: true,
        multi_use: true,
        ..NewInvitation::default()
    };
    let invited = clinic.agents.create_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    for _ in 0..3 {
        let how = InvitationAnswer {
            auto_accept: true,
            ..InvitationAnswer::default()
        };
        let taken =
            holder
                .agents
                .receive_invitation(&holder.tenant, invitation(&invited.invitation), how);
        taken.await.unwrap();
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
}

#[tokio::test]
async fn an_invitation_for_one_is_used_once() {
    let (mut clinic, holder) = two().await;
    let new = NewInvitation {
        auto_accept: true,
        ..NewInvitation::default()
    };
    let invited = clinic.agents.create_invitation(&clinic.tenant, new);
    let invited = invited.await.unwrap();
    for turn in 0..2 {
        let how = InvitationAnswer {
            auto_accept: true,
            ..InvitationAnswer::default()
        };
        let taken =
            holder
                .agents
                .receive_invitation(&holder.tenant, invitation(&invited.invitation), how);
        taken.await.unwrap();
        match turn {
            0 => {
                clinic.takes().await;
                clinic.takes().await;
            }
            _ => assert_eq!(clinic.refuses().await.kind, ErrorKind::Conflict),
        }
    }
    // The second request is refused by a report, which ends its connection.
    let refused = holder.reaches("error").await;
    assert!(refused.error_msg.unwrap().contains("request_not_accepted"));
    assert_eq!(clinic.connections().await.len(), 1);
}

#[tokio::test]
async fn a_connection_that_is_not_ready_says_nothing() {
    let (clinic, _) = two().await;
    let invited = clinic
        .agents
        .create_invitation(&clinic.tenant, NewInvitation::default());
    let id = invited.await.unwrap().connection_id;
    let refused = clinic
        .agents
        .ping(&clinic.tenant, &id, None)
        .await
        .unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    let other = TenantId::parse("other").unwrap();
    let absent = clinic.agents.connection(&other, &id).await.unwrap_err();
    assert_eq!(absent.kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn what_is_no_envelope_for_a_key_held_here_is_refused() {
    let (clinic, _) = two().await;
    for envelope in [&b""[..], b"{}", b"[]", br#"{"protected":"e30"}"#] {
        let refused = clinic.agents.receive(envelope.to_vec()).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest, "{envelope:?}");
    }
}
