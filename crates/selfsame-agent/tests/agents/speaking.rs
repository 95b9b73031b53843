//! Protocols without records of their own: texts, features, notifications of revocation, problem reports.

use selfsame_agent::AgentSettings;
use selfsame_agent::connect::{NewDiscovery, RevocationNotification};
use selfsame_aries::discover_features::FeatureQuery;
use selfsame_aries::revocation_notification::RevokedCredential;
use selfsame_driver::ErrorKind;
use selfsame_mediation::texts::KeptText;
use serde_json::json;

use super::world::connected;

const PROTOCOLS: [&str; 3] = ["connections/1.0", "didexchange/1.1", "didcomm/2.0"];

#[tokio::test]
async fn a_text_reaches_the_controller_and_is_answered_if_the_agent_shall() {
    for protocol in PROTOCOLS {
        let settings = AgentSettings {
            auto_respond_messages: true,
            ..AgentSettings::default()
        };
        let mut both = connected(settings, protocol).await;
        let sent = both.clinic.agents.send_text(
            &both.clinic.tenant,
            &both.of_clinic,
            "Your results are here.".to_owned(),
        );
        sent.await.unwrap();
        both.holder.takes().await;
        both.clinic.takes().await;
        let [told] = &both.holder.told("basicmessages").await[..] else {
            panic!("one text");
        };
        assert_eq!(told["content"], "Your results are here.");
        assert_eq!(told["connection_id"], json!(both.of_holder));
        assert_eq!(told["state"], "received");
        let [answer] = &both.clinic.told("basicmessages").await[..] else {
            panic!("one answer");
        };
        assert_eq!(answer["content"], "Holder received your message");
        let clinic = &both.clinic;
        let texts = clinic.agents.texts(&clinic.tenant, &both.of_clinic);
        let kept: Vec<_> = texts.all().await.unwrap();
        let said = |text: &KeptText| (text.content.clone(), text.is_ours);
        let expected = [
            ("Your results are here.".to_owned(), true),
            ("Holder received your message".to_owned(), false),
        ];
        assert_eq!(kept.iter().map(said).collect::<Vec<_>>(), expected);
        let removed = clinic
            .agents
            .remove_connection(&clinic.tenant, &both.of_clinic);
        removed.await.unwrap();
        assert_eq!(texts.all().await.unwrap(), []);
    }
}

#[tokio::test]
async fn an_envelope_that_comes_again_has_no_second_effect() {
    for protocol in PROTOCOLS {
        envelope_comes_again(protocol).await;
    }
}

async fn envelope_comes_again(protocol: &str) {
    let mut both = connected(AgentSettings::default(), protocol).await;
    let sent =
        both.clinic
            .agents
            .send_text(&both.clinic.tenant, &both.of_clinic, "Once.".to_owned());
    sent.await.unwrap();
    both.holder.takes().await;
    let envelope = both.holder.last_envelope();
    for _ in 0..3 {
        both.holder.agents.receive(envelope.clone()).await.unwrap();
    }
    assert_eq!(both.holder.told("basicmessages").await.len(), 1);
}

#[tokio::test]
async fn an_agent_tells_which_protocols_it_speaks() {
    let mut both = connected(AgentSettings::default(), "didexchange/1.1").await;
    for major in [1, 2] {
        let new = NewDiscovery {
            connection_id: Some(both.of_clinic.clone()),
            major,
            queries: vec![FeatureQuery {
                feature_type: "protocol".to_owned(),
                pattern: "https://didcomm.org/didexchange/*".to_owned(),
            }],
        };
        let asked = both
            .clinic
            .agents
            .discover(&both.clinic.tenant, new.clone());
        let asked = asked.await.unwrap();
        both.holder.takes().await;
        both.clinic.takes().await;
        let id = &asked.discovery_exchange_id;
        let found = both.clinic.agents.discovery_record(&both.clinic.tenant, id);
        let found = found.await.unwrap();
        let id = match major {
            1 => &found.disclose.as_ref().unwrap()["protocols"][0]["pid"],
            _ => &found.disclosures.as_ref().unwrap()["disclosures"][0]["id"],
        };
        assert_eq!(id, "https://didcomm.org/didexchange/1.1");
        let own = NewDiscovery {
            connection_id: None,
            ..new
        };
        let own = both.clinic.agents.discover(&both.clinic.tenant, own);
        let own = own.await.unwrap();
        assert_eq!(own.disclose, found.disclose);
        assert_eq!(own.disclosures, found.disclosures);
    }
}

#[tokio::test]
async fn a_notification_of_revocation_reaches_the_controller() {
    for protocol in ["connections/1.0", "didcomm/2.0"] {
        notification_reaches(protocol).await;
    }
}

async fn notification_reaches(protocol: &str) {
    let mut both = connected(AgentSettings::default(), protocol).await;
    let place = RevokedCredential::Registry {
        format: "anoncreds".to_owned(),
        rev_reg_id: "did:example:1/registry".to_owned(),
        cred_rev_id: "7".to_owned(),
    };
    let thread = RevokedCredential::Thread("thread-1".to_owned());
    for (major, credential) in [(1, thread.clone()), (2, place)] {
        let notification = RevocationNotification {
            major,
            credential,
            comment: Some("The batch was recalled.".to_owned()),
        };
        let sent =
            both.clinic
                .agents
                .notify_revoked(&both.clinic.tenant, &both.of_clinic, notification);
        sent.await.unwrap();
        both.holder.takes().await;
    }
    let first = both.holder.told("revocation-notification").await;
    assert_eq!(first[0]["thread_id"], "thread-1");
    assert_eq!(first[0]["comment"], "The batch was recalled.");
    let second = both.holder.told("revocation-notification-v2").await;
    assert_eq!(second[0]["rev_reg_id"], "did:example:1/registry");
    assert_eq!(second[0]["cred_rev_id"], "7");
    let unplaced = RevocationNotification {
        major: 2,
        credential: thread,
        comment: None,
    };
    let refused = both
        .clinic
        .agents
        .notify_revoked(&both.clinic.tenant, &both.of_clinic, unplaced);
    assert_eq!(refused.await.unwrap_err().kind, ErrorKind::BadRequest);
}

#[tokio::test]
async fn controllers_are_told_of_pings_if_they_want() {
    for protocol in ["didexchange/1.1", "didcomm/2.0"] {
        ping_is_told(protocol).await;
    }
}

async fn ping_is_told(protocol: &str) {
    let settings = AgentSettings {
        monitor_ping: true,
        ..AgentSettings::default()
    };
    let mut both = connected(settings, protocol).await;
    let ping = both.clinic.agents.ping(
        &both.clinic.tenant,
        &both.of_clinic,
        Some("Hello?".to_owned()),
    );
    let thread = ping.await.unwrap();
    both.holder.takes().await;
    both.clinic.takes().await;
    let told = both.holder.told("ping").await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["comment"], "Hello?");
    assert_eq!(told[0]["thread_id"], json!(thread));
}
