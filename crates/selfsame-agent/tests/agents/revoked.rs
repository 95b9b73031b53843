//! Notifications of revocation mark the exchange in which the credential was issued.

use std::time::Duration;

use selfsame_agent::connect::RevocationNotification;
use selfsame_agent::issue::IssueWhat;
use selfsame_anoncreds_wallet::revocation::TailsName;
use selfsame_aries::revocation_notification::RevokedCredential;
use serde_json::Value;

use super::alone::{beginning, offer, willing};
use super::world::{Common, Connected, connected_of};

const PROTOCOLS: [&str; 2] = ["didexchange/1.1", "didcomm/2.0"];

/// An exchange that issued a revocable credential, as the clinic sees it.
async fn issued(both: &mut Connected, definition: &str) -> Value {
    let what = IssueWhat::Offer(Some(offer(definition)));
    let issuing = both.clinic.agents.issuing();
    let begin = beginning(Some(&both.of_clinic));
    let begun = issuing.begin(&both.clinic.tenant, &begin, what).await;
    let id = begun.unwrap()["cred_ex_id"].as_str().unwrap().to_owned();
    both.holder.takes().await; // the offer
    both.clinic.takes().await; // the request
    both.holder.takes().await; // the credential
    both.clinic.takes().await; // it is kept
    both.clinic.issuing_is(&id, "done").await
}

/// The revocation registry of a definition, once it is published.
async fn ready_registry(both: &Connected, definition: &str) -> String {
    let anoncreds = both.clinic.agents.anoncreds();
    for _ in 0..3_000 {
        let active = anoncreds.active_registry(&both.clinic.tenant, definition);
        if let Ok(active) = active.await {
            return active.rev_reg_id;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the registry is not published");
}

/// The states of the holder's exchanges, the oldest first.
async fn states(both: &Connected) -> Vec<String> {
    let issuing = both.holder.agents.issuing();
    let paging = selfsame_driver::paging::Paging::default();
    let filter = selfsame_agent::ExchangeFilter::default();
    let listed = issuing.list(&both.holder.tenant, &filter, &paging).await;
    let listed = listed.unwrap().items.into_iter().rev();
    listed
        .map(|one| one["state"].as_str().unwrap().to_owned())
        .collect()
}

async fn tells(both: &mut Connected, major: u16, credential: RevokedCredential) {
    let notification = RevocationNotification {
        major,
        credential,
        comment: None,
    };
    let sent =
        both.clinic
            .agents
            .notify_revoked(&both.clinic.tenant, &both.of_clinic, notification);
    sent.await.unwrap();
    both.holder.takes().await;
}

#[tokio::test]
async fn a_notification_marks_the_exchange_of_its_credential_and_no_other() {
    for protocol in PROTOCOLS {
        notification_marks(protocol).await;
    }
}

async fn notification_marks(protocol: &str) {
    let common = Common::with_registry(willing());
    let mut both = connected_of(&common, protocol).await;
    let definition = both.clinic.defines(Some(8)).await;
    let anoncreds = both.clinic.agents.anoncreds();
    let registry = ready_registry(&both, &definition).await;
    let tails = anoncreds.tails(TailsName::Registry(&registry)).await;
    let tails = tails.unwrap().unwrap().1;
    let keeping = both.holder.agents.anoncreds().keep_tails(&registry, &tails);
    keeping.await.unwrap();

    let first = issued(&mut both, &definition).await;
    issued(&mut both, &definition).await;
    assert_eq!(states(&both).await, ["done", "done"]);

    let thread = |thread: &Value| RevokedCredential::Thread(thread.as_str().unwrap().to_owned());
    tells(&mut both, 1, thread(&Value::from("another"))).await;
    assert_eq!(states(&both).await, ["done", "done"]);
    tells(&mut both, 1, thread(&first["thread_id"])).await;
    assert_eq!(states(&both).await, ["credential-revoked", "done"]);

    // The second place; the first one of a registry is not given out.
    let place = |registry: &str, index: &str| RevokedCredential::Registry {
        format: "anoncreds".to_owned(),
        rev_reg_id: registry.to_owned(),
        cred_rev_id: index.to_owned(),
    };
    tells(&mut both, 2, place("another", "2")).await;
    tells(&mut both, 2, place(&registry, "7")).await;
    assert_eq!(states(&both).await, ["credential-revoked", "done"]);
    tells(&mut both, 2, place(&registry, "2")).await;
    assert_eq!(
        states(&both).await,
        ["credential-revoked", "credential-revoked"]
    );
}
