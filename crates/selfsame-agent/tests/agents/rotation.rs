//! DID rotate: one side changes its DID, or ends the connection.

use selfsame_agent::AgentSettings;
use selfsame_driver::ErrorKind;

use super::world::{Common, Connected, connected, connected_of};

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

impl Connected {
    /// The holder ends the connection, and the clinic is told.
    async fn ends(&mut self) {
        let ending = self
            .holder
            .agents
            .hang_up(&self.holder.tenant, &self.of_holder);
        ending.await.unwrap();
    }

    async fn are_strangers(&self) {
        self.clinic.has_none().await;
        self.holder.has_none().await;
    }
}

#[tokio::test]
async fn a_hangup_is_delivered_although_the_message_before_it_is_answered_late() {
    for protocol in ["didexchange/1.1", "didcomm/2.0"] {
        let mut both = connected(AgentSettings::default(), protocol).await;
        both.clinic.holds_its_answers();
        let sent = both.holder.agents.send_text(
            &both.holder.tenant,
            &both.of_holder,
            "One more thing.".to_owned(),
        );
        sent.await.unwrap();
        both.clinic.takes().await;
        both.ends().await;
        both.clinic.answers();
        both.clinic.takes().await;
        both.are_strangers().await;
    }
}

#[tokio::test]
async fn a_hangup_is_delivered_although_the_peer_has_just_changed_its_did() {
    let mut both = connected(AgentSettings::default(), "didcomm/2.0").await;
    both.clinic.holds_its_answers();
    let rotated = both
        .clinic
        .agents
        .rotate_did(&both.clinic.tenant, &both.of_clinic, None);
    rotated.await.unwrap();
    both.holder.takes().await;
    both.clinic.takes().await; // it is acknowledged, and the answer is late
    let sent = both.holder.agents.send_text(
        &both.holder.tenant,
        &both.of_holder,
        "Still here.".to_owned(),
    );
    sent.await.unwrap();
    both.ends().await;
    both.clinic.answers();
    both.clinic.takes().await;
    both.clinic.takes().await;
    both.are_strangers().await;
}

#[tokio::test]
async fn a_hangup_that_finds_the_peer_busy_is_delivered_later() {
    for protocol in ["didexchange/1.1", "didcomm/2.0"] {
        let common = Common::with_registry(AgentSettings::default());
        let mut both = connected_of(&common, protocol).await;
        both.clinic.is_busy_once();
        both.ends().await;
        both.clinic.takes().await;
        both.are_strangers().await;
    }
}

#[tokio::test]
async fn a_connection_that_is_over_takes_no_act() {
    let mut both = connected(AgentSettings::default(), "didcomm/2.0").await;
    both.clinic.holds_its_answers();
    both.ends().await;
    let (holder, id) = (&both.holder, &both.of_holder);
    let again = holder.agents.ping(&holder.tenant, id, None).await;
    assert_eq!(again.unwrap_err().kind, ErrorKind::Conflict);
    both.clinic.takes().await;
    both.clinic.answers();
    both.are_strangers().await;
}
