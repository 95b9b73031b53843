//! Exchanges without a connection: their first message goes with an invitation, and each message says where the answers go.

use selfsame_agent::connect::{NewOobInvitation, OobAnswer};
use selfsame_agent::issue::{IssueWhat, NamedFilter, NewCredentialOffer};
use selfsame_agent::present::{NamedRequest, NewProofRequest, ProofWhat};
use selfsame_agent::{AgentSettings, ExchangeBegin, ExchangeFilter, Wishes};
use selfsame_aries::exchange::{Preview, PreviewAttribute};
use selfsame_aries::formats::CredentialFilter;
use selfsame_didcomm::Message;
use selfsame_driver::keys::KIND;
use selfsame_driver::paging::Paging;
use selfsame_store::{Page, TenantId};
use serde_json::{Map, Value, json};

use super::world::{Common, Peer, all_of, invitation};

/// Agents that go on by themselves and keep their records.
pub fn willing() -> AgentSettings {
    AgentSettings {
        auto_respond_credential_offer: true,
        auto_store_credential: true,
        auto_respond_presentation_request: true,
        auto_verify_presentation: true,
        preserve_exchange_records: true,
        ..AgentSettings::default()
    }
}

/// An offer of a credential of this definition.
pub fn offer(definition: &str) -> NewCredentialOffer {
    NewCredentialOffer {
        preview: Preview {
            attributes: vec![PreviewAttribute {
                name: "blood".to_owned(),
                mime_type: None,
                value: "A+".to_owned(),
            }],
        },
        filters: vec![NamedFilter {
            format: "anoncreds".to_owned(),
            filter: CredentialFilter {
                cred_def_id: Some(definition.to_owned()),
                ..CredentialFilter::default()
            },
        }],
        ..NewCredentialOffer::default()
    }
}

/// How an exchange begins that issues by itself.
pub fn beginning(connection_id: Option<&str>) -> ExchangeBegin {
    ExchangeBegin {
        connection_id: connection_id.map(str::to_owned),
        major: 2,
        wishes: Wishes {
            auto_issue: Some(true),
            ..Wishes::default()
        },
    }
}

/// An invitation that has this message alone.
async fn attached(peer: &Peer, message: Message) -> Map<String, Value> {
    let new = NewOobInvitation {
        requests: vec![message],
        ..NewOobInvitation::default()
    };
    let invited = peer.agents.create_oob_invitation(&peer.tenant, new);
    invitation(&invited.await.unwrap().invitation)
}

async fn answers(peer: &Peer, members: &Map<String, Value>) -> String {
    answers_for(peer, members, None).await
}

/// The same; the key for further messages is kept for this number of seconds.
async fn answers_for(
    peer: &Peer,
    members: &Map<String, Value>,
    key_seconds: Option<u64>,
) -> String {
    let answer = OobAnswer {
        alias: None,
        auto_accept: true,
        use_existing_connection: false,
        label: None,
        key_seconds,
    };
    let received = peer
        .agents
        .receive_oob_invitation(&peer.tenant, members.clone(), answer);
    let received = received.await.unwrap();
    assert_eq!(received.state, "done");
    assert_eq!(received.connection_id, None);
    received.attach_thread_id.unwrap()
}

/// The only exchange of this thread.
fn only(listed: Vec<Value>) -> Value {
    let [one] = &listed[..] else {
        panic!("one exchange: {listed:?}");
    };
    one.clone()
}

fn of_thread(thread: &str) -> ExchangeFilter {
    ExchangeFilter {
        thread_id: Some(thread.to_owned()),
        ..ExchangeFilter::default()
    }
}

#[tokio::test]
async fn a_credential_is_issued_and_presented_without_a_connection() {
    let common = Common::with_registry(willing());
    let [mut clinic, mut holder, mut stranger] =
        all_of(["Clinic", "Holder", "Stranger"], &common).await;
    let definition = clinic.defines(None).await;

    let what = IssueWhat::Offer(Some(offer(&definition)));
    let issuing = clinic.agents.issuing();
    let begun = issuing.begin(&clinic.tenant, &beginning(None), what).await;
    let begun = begun.unwrap();
    assert_eq!(begun["state"], "offer-sent");
    let id = begun["cred_ex_id"].as_str().unwrap().to_owned();
    let first = issuing.unsent(&clinic.tenant, &id).await.unwrap();
    let invited = attached(&clinic, first).await;
    let thread = answers(&holder, &invited).await;
    assert_eq!(begun["thread_id"], thread);
    clinic.takes().await; // the request
    holder.takes().await; // the credential
    clinic.takes().await; // it is kept
    let issued = clinic.issuing_is(&id, "done").await;
    assert_eq!(issued["connection_id"], Value::Null);
    let (paging, of_thread) = (Paging::default(), of_thread(&thread));
    let listed = holder.agents.issuing();
    let listed = listed.list(&holder.tenant, &of_thread, &paging);
    assert_eq!(only(listed.await.unwrap().items)["state"], "done");

    // Who comes second is refused, and nothing changes.
    answers(&stranger, &invited).await;
    clinic.refuses().await;
    assert_eq!(clinic.issuing_is(&id, "done").await, issued);
    let listed = stranger.agents.issuing();
    let listed = listed.list(&stranger.tenant, &of_thread, &paging);
    assert_eq!(only(listed.await.unwrap().items)["state"], "request-sent");

    let request = json!({
        "name": "blood", "version": "1.0",
        "requested_attributes": {
            "blood": {"name": "blood", "restrictions": [{"cred_def_id": definition}]},
        },
        "requested_predicates": {},
    });
    let what = ProofWhat::Request(Some(NewProofRequest {
        requests: vec![NamedRequest {
            format: "anoncreds".to_owned(),
            request,
        }],
        ..NewProofRequest::default()
    }));
    let proving = stranger.agents.proving();
    let begun = proving
        .begin(&stranger.tenant, &beginning(None), what)
        .await;
    let begun = begun.unwrap();
    let id = begun["pres_ex_id"].as_str().unwrap().to_owned();
    let first = proving.unsent(&stranger.tenant, &id).await.unwrap();
    let invited = attached(&stranger, first).await;
    answers(&holder, &invited).await;
    stranger.takes().await; // the presentation
    let proving = stranger.agents.proving();
    let verified = proving.one(&stranger.tenant, &id).await.unwrap();
    assert_eq!(verified["state"], "done", "{verified}");
    assert_eq!(verified["verified"], "true");
    for peer in [&clinic, &holder, &stranger] {
        assert!(peer.connections().await.is_empty());
    }
}

#[tokio::test]
async fn what_answers_without_a_connection_is_kept_as_long_as_is_said() {
    let common = Common::with_registry(willing());
    let [mut clinic, mut holder] = all_of(["Clinic", "Holder"], &common).await;
    let definition = clinic.defines(None).await;
    let (store, tenant) = (holder.store.clone(), holder.tenant.clone());
    let kept = async || {
        let (page, instance) = (Page::newest(1), TenantId::instance());
        let keys = store.list(&tenant, KIND, &page).await;
        let routes = store.list(&instance, "aries_route", &page).await;
        let invitations = store.list(&tenant, "aries_oob", &page).await;
        let exchanges = store.list(&tenant, "aries_issuing", &page).await;
        let found = [keys, routes, invitations, exchanges];
        let newest = found.map(|found| found.unwrap().remove(0));
        newest.map(|one| one.expires)
    };
    for key_seconds in [None, Some(60)] {
        let what = IssueWhat::Offer(Some(offer(&definition)));
        let issuing = clinic.agents.issuing();
        let begun = issuing.begin(&clinic.tenant, &beginning(None), what).await;
        let begun = begun.unwrap();
        let id = begun["cred_ex_id"].as_str().unwrap();
        let first = issuing.unsent(&clinic.tenant, id).await.unwrap();
        let before = holder.shared.clock.now();
        answers_for(&holder, &attached(&clinic, first).await, key_seconds).await;
        let first = kept().await;
        for expires in first {
            let seconds = expires.map(|expires| expires.seconds_since(before));
            assert_eq!(seconds.is_some(), key_seconds.is_some());
            assert!(seconds.is_none_or(|seconds| (60..600).contains(&seconds)));
        }
        clinic.takes().await; // the request
        holder.takes().await; // the credential
        let [.., exchange] = kept().await;
        assert_eq!(exchange, first[3], "a later step changes nothing of it");
    }
}
