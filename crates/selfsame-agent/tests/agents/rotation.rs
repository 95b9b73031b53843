//! DID rotate: one side changes its DID, or ends the connection.

use selfsame_agent::AgentSettings;
use selfsame_driver::ErrorKind;

use super::world::connected;

#[tokio::test]
async fn a_connection_goes_on_with_another_did() {
    for protocol in ["connections/1.0", "didexchange/1.1", "didcomm/2.0"] {
        let mut both = connected(AgentSettings::default(), protocol).await;
        let before = both.clinic.reaches("active").await.my_did;
        // A message that was sent before comes after.
        for to in ["did:peer:2", "did:peer:4", ""] {
            let to = match to {
                _ if protocol == "didcomm/2.0" => None,
                "" => None,
                method => {
                    let made = both.clinic.agents.create_did(&both.clinic.tenant, method);
                    Some(made.await.unwrap().did.parse().unwrap())
                }
            };
            let rotated =
                both.clinic
                    .agents
                    .rotate_did(&both.clinic.tenant, &both.of_clinic, to.clone());
            rotated.await.unwrap();
            both.holder.takes().await;
            both.clinic.takes().await; // it is acknowledged
            let ours = both.clinic.reaches("active").await;
            let theirs = both.holder.reaches("active").await;
            assert_ne!(ours.my_did, before);
            assert_eq!(ours.my_did, theirs.their_did);
            if let Some(to) = to {
                assert_eq!(ours.my_did, Some(to.to_string()));
            }
            for side in [true, false] {
                let (peer, id) = match side {
                    true => (&both.clinic, &both.of_clinic),
                    false => (&both.holder, &both.of_holder),
                };
                let ping = peer.agents.ping(&peer.tenant, id, None);
                ping.await.unwrap();
                match side {
                    true => {
                        both.holder.takes().await;
                        both.clinic.takes().await;
                    }
                    false => {
                        both.clinic.takes().await;
                        both.holder.takes().await;
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_did_that_is_not_held_is_not_rotated_to() {
    let both = connected(AgentSettings::default(), "didexchange/1.1").await;
    let foreign = both
        .holder
        .agents
        .create_did(&both.holder.tenant, "did:peer:2");
    let foreign = foreign.await.unwrap().did.parse().unwrap();
    let refused =
        both.clinic
            .agents
            .rotate_did(&both.clinic.tenant, &both.of_clinic, Some(foreign));
    assert_eq!(refused.await.unwrap_err().kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn a_hangup_ends_the_connection_on_both_sides() {
    for protocol in ["didexchange/1.1", "didcomm/2.0"] {
        hangup_ends(protocol).await;
    }
}

async fn hangup_ends(protocol: &str) {
    let mut both = connected(AgentSettings::default(), protocol).await;
    let ended = both
        .clinic
        .agents
        .hang_up(&both.clinic.tenant, &both.of_clinic);
    ended.await.unwrap();
    both.holder.takes().await;
    assert!(both.holder.connections().await.is_empty());
    both.clinic.has_none().await;
}
