//! What is recorded, what belongs together, and what is never kept.

use std::time::Duration;

use selfsame_crypto::seal::SealingKey;
use selfsame_driver::ErrorKind;
use selfsame_store::{Memory, Vault};
use serde_json::{Value, json};

use super::*;
use crate::exchange::{WireAnswer, WireRequest, WireStep};
use crate::parties::WireParty;

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";
const CODE: &str = "marked-pre-authorized-code-0123456789";
const TOKEN: &str = "marked-access-token-0123456789abcdef";
const NONCE: &str = "marked-c-nonce-0123456789abcdefghij";

async fn wires() -> Wires {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
    Wires::new(store, Clock::default())
}

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

fn step(kind: FlowKind, request: &'static str) -> WireStep {
    WireStep {
        kind,
        request,
        answer: "Answer",
        from: WireParty::Wallet,
        to: WireParty::Issuer,
        by: "OpenID4VCI 1.0 §6.1",
        answer_by: "OpenID4VCI 1.0 §6.2",
        answers_person: false,
        is_stateless: false,
    }
}

/// A request with its answer, whose bodies stay where they are made.
struct Made {
    step: WireStep,
    id: Option<&'static str>,
    authorization: Option<String>,
    media: &'static str,
    body: String,
    status: u16,
    answer: String,
}

impl Made {
    fn of(request: &'static str) -> Self {
        Self {
            step: step(FlowKind::Issuance, request),
            id: None,
            authorization: None,
            media: JSON,
            body: String::new(),
            status: 200,
            answer: String::new(),
        }
    }

    async fn record(&self, wires: &Wires, tenant: &TenantId) {
        let exchange = WireExchange {
            step: self.step,
            request: WireRequest {
                head: "POST /issuer/token",
                id: self.id,
                query: "",
                authorization: self.authorization.as_deref(),
                proof: None,
                media: self.media,
                body: self.body.as_bytes(),
            },
            answer: WireAnswer {
                status: self.status,
                location: None,
                nonce: None,
                refusal: None,
                media: JSON,
                body: self.answer.as_bytes(),
            },
            at: wires.0.clock.now(),
            took: Some(Duration::from_millis(3)),
        };
        wires.record(tenant, &exchange).await.unwrap();
    }
}

fn offer() -> Made {
    let grant = json!({"pre-authorized_code": CODE, "tx_code": {"length": 4}});
    let grants = json!({"urn:ietf:params:oauth:grant-type:pre-authorized_code": grant});
    let offer = json!({"credential_issuer": "https://issuer.example", "grants": grants});
    Made {
        id: Some("offer-1"),
        answer: offer.to_string(),
        ..Made::of("Offer request")
    }
}

fn token() -> Made {
    Made {
        media: FORM,
        body: format!("grant_type=x&pre-authorized_code={CODE}&tx_code=marked"),
        answer: json!({"access_token": TOKEN, "token_type": "Bearer"}).to_string(),
        ..Made::of("Token request")
    }
}

fn nonce() -> Made {
    let made = Made::of("Nonce request");
    Made {
        step: WireStep {
            is_stateless: true,
            ..made.step
        },
        answer: json!({ "c_nonce": NONCE }).to_string(),
        ..made
    }
}

fn credential() -> Made {
    let part = |value: Value| base64url_encode(value.to_string().as_bytes());
    let header = part(json!({"alg": "ES256", "typ": "openid4vci-proof+jwt"}));
    let proof = format!(
        "{header}.{}.bWFya2Vk",
        part(json!({"nonce": NONCE, "aud": "https://issuer.example"}))
    );
    let payload =
        part(json!({"vct": "urn:card", "iss": "https://issuer.example", "name": "marked claim"}));
    let disclosure = part(json!(["saltsaltsaltsalt", "given_name", "marked"]));
    let issued = format!(
        "{}.{payload}.bWFya2Vk~{disclosure}~",
        part(json!({"alg": "ES256", "typ": "dc+sd-jwt"}))
    );
    Made {
        authorization: Some(format!("Bearer {TOKEN}")),
        body: json!({"credential_configuration_id": "card", "proofs": {"jwt": [proof]}}).to_string(),
        answer: json!({"credentials": [{"credential": issued}], "notification_id": "marked-notification-id-012345"}).to_string(),
        ..Made::of("Credential request")
    }
}

#[tokio::test]
async fn the_messages_of_an_issuance_are_one_flow_and_no_secret_of_them_is_kept() {
    let (wires, tenant) = (wires().await, tenant("issuer"));
    for made in [offer(), token(), nonce(), credential()] {
        made.record(&wires, &tenant).await;
    }
    let kind = FlowKind::Issuance;
    let listed = wires.list(&tenant, kind, &Paging::default()).await.unwrap();
    assert_eq!(listed.items.len(), 1, "{listed:?}");
    let flow = wires
        .flow(&tenant, kind, &listed.items[0].id)
        .await
        .unwrap();
    let names: Vec<&str> = flow.messages.iter().map(|one| &*one.name).collect();
    let each = |name| [name, "Answer"];
    let wanted = [
        each("Offer request"),
        each("Token request"),
        each("Nonce request"),
        each("Credential request"),
    ];
    assert_eq!(names, wanted.concat());
    let by_offer = wires.flow_of(&tenant, kind, "offer-1").await.unwrap();
    assert_eq!(by_offer, flow);
    let stored = wires
        .0
        .store
        .list(&tenant, stored_as(kind), &Page::first(9))
        .await
        .unwrap();
    assert_eq!(stored.len(), 1);
    let text = String::from_utf8(stored[0].value.clone()).unwrap();
    for secret in ["marked", "bWFya2Vk", &base64url_encode(b"marked")] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert!(
        text.contains("urn:card") && text.contains("SHA-256 "),
        "{text}"
    );
}

#[tokio::test]
async fn a_refused_request_of_a_stranger_begins_no_flow() {
    let (wires, tenant) = (wires().await, tenant("issuer"));
    let refused = Made {
        status: 400,
        answer: json!({"error": "invalid_grant"}).to_string(),
        ..token()
    };
    refused.record(&wires, &tenant).await;
    nonce().record(&wires, &tenant).await;
    let with_a_body = Made {
        media: FORM,
        body: "code=another-code-of-some-length".to_owned(),
        ..nonce()
    };
    with_a_body.record(&wires, &tenant).await;
    let first = Paging::default();
    let listed = wires.list(&tenant, FlowKind::Issuance, &first);
    assert!(listed.await.unwrap().items.is_empty());
    // In a flow, a refusal is a message as others are.
    offer().record(&wires, &tenant).await;
    refused.record(&wires, &tenant).await;
    let flow = wires
        .flow_of(&tenant, FlowKind::Issuance, "offer-1")
        .await
        .unwrap();
    assert_eq!(flow.messages.len(), 4);
    assert_eq!(flow.messages[3].name, "Refusal");
    assert_eq!(flow.messages[3].content["body"]["error"], "invalid_grant");
}

#[tokio::test]
async fn the_nonces_of_one_tenant_displace_none_of_another() {
    let wires = wires().await;
    let (own, other) = (tenant("acme"), tenant("lake"));
    for made in [offer(), token(), nonce()] {
        made.record(&wires, &own).await;
    }
    for number in 0..WAITING_MAX {
        let answer = json!({ "c_nonce": format!("{number:032}") }).to_string();
        let made = Made { answer, ..nonce() };
        made.record(&wires, &other).await;
    }
    assert_eq!(wires.waiting().len(), WAITING_EACH + 1);
    credential().record(&wires, &own).await;
    let flow = wires.flow_of(&own, FlowKind::Issuance, "offer-1").await;
    assert_eq!(flow.unwrap().messages.len(), 8);
}

#[tokio::test]
async fn a_flow_of_another_tenant_or_of_another_kind_is_not_found() {
    let wires = wires().await;
    let (own, other) = (tenant("acme"), tenant("lake"));
    offer().record(&wires, &own).await;
    let kind = FlowKind::Issuance;
    let id = wires.flow_of(&own, kind, "offer-1").await.unwrap().id;
    let kinds = [FlowKind::Presentation, FlowKind::SignIn];
    let mut refused = vec![
        wires.flow(&other, kind, &id).await.unwrap_err(),
        wires.flow_of(&other, kind, "offer-1").await.unwrap_err(),
        wires.erase(&other, kind, &id).await.unwrap_err(),
    ];
    for kind in kinds {
        refused.push(wires.flow(&own, kind, &id).await.unwrap_err());
        refused.push(wires.erase(&own, kind, &id).await.unwrap_err());
    }
    for error in refused {
        assert_eq!(
            (error.kind, error.reason.id()),
            (ErrorKind::NotFound, "wire-flow-unknown")
        );
    }
    assert!(wires.flow(&own, kind, &id).await.is_ok());
}

#[tokio::test]
async fn a_flow_is_bounded_in_messages_and_in_bytes() {
    let (wires, tenant) = (wires().await, tenant("issuer"));
    for _ in 0..MESSAGES_MAX {
        offer().record(&wires, &tenant).await;
    }
    let flow = wires
        .flow_of(&tenant, FlowKind::Issuance, "offer-1")
        .await
        .unwrap();
    assert_eq!(flow.messages.len(), MESSAGES_MAX);
    assert_eq!(flow.left_out, MESSAGES_MAX);
    // Texts that are kept make a message long, and it is not kept then.
    let long: Vec<Value> = (0..39)
        .map(|n| json!({"id": format!("q{n}"), "format": "x".repeat(299)}))
        .collect();
    let query = json!({"credentials": long, "dcql_query": {"credentials": long}});
    let asked = Made {
        id: Some("offer-2"),
        answer: query.to_string(),
        ..Made::of("Offer request")
    };
    asked.record(&wires, &tenant).await;
    let flow = wires
        .flow_of(&tenant, FlowKind::Issuance, "offer-2")
        .await
        .unwrap();
    assert!(
        flow.messages[1]
            .content
            .as_str()
            .unwrap()
            .starts_with("not kept")
    );
}

#[tokio::test]
async fn the_oldest_flow_makes_room_and_each_ends_with_its_time() {
    let (wires, tenant) = (wires().await, tenant("issuer"));
    let made = |id: u64| Made {
        id: Some(Box::leak(format!("offer-{id}").into_boxed_str())),
        ..Made::of("Offer request")
    };
    let kind = FlowKind::Issuance;
    let (most, flows) = (kept_most(kind), stored_as(kind));
    for id in 0..=most {
        made(id).record(&wires, &tenant).await;
    }
    let count = wires.0.store.count(&tenant, flows, FLOWS_MAX).await;
    assert_eq!(count.unwrap(), most);
    assert!(wires.flow_of(&tenant, kind, "offer-0").await.is_err());
    let name = format!("offer-{most}");
    let newest = wires.flow_of(&tenant, kind, &name);
    let newest = newest.await.unwrap();
    let record = wires
        .0
        .store
        .read(&tenant, flows, &newest.id)
        .await
        .unwrap();
    let record = record.unwrap();
    let began = UnixTime::parse_rfc3339(&newest.began).unwrap();
    assert_eq!(record.expires, Some(began.plus(KEPT_SECONDS)));
    // Of flows that begin at once, each makes room for one; the next one makes up for that.
    for copy in 0..3 {
        let put = Put::new(flows, format!("copy-{copy}"), record.value.clone());
        let batch = Batch::new(tenant.clone()).put(put);
        wires.0.store.commit(batch).await.unwrap();
    }
    made(most + 1).record(&wires, &tenant).await;
    let count = wires.0.store.count(&tenant, flows, FLOWS_MAX).await;
    assert_eq!(count.unwrap(), most);
}

#[tokio::test]
async fn sign_ins_that_anybody_begins_displace_only_sign_ins() {
    let (wires, tenant) = (wires().await, tenant("issuer"));
    let kinds = [FlowKind::Issuance, FlowKind::Presentation];
    for kind in kinds {
        let made = Made {
            step: step(kind, "First"),
            id: Some("first"),
            ..Made::of("First")
        };
        made.record(&wires, &tenant).await;
    }
    let sign_in = Made {
        step: step(FlowKind::SignIn, "Visit"),
        ..Made::of("Visit")
    };
    for _ in 0..=FLOWS_MAX {
        sign_in.record(&wires, &tenant).await;
    }
    for kind in kinds {
        let kept = wires.flow_of(&tenant, kind, "first").await.unwrap();
        wires.flow(&tenant, kind, &kept.id).await.unwrap();
    }
    let store = &wires.0.store;
    let sign_ins = store.count(&tenant, stored_as(FlowKind::SignIn), FLOWS_MAX);
    assert_eq!(sign_ins.await.unwrap(), 50);
    let of_organisations = [FlowKind::Issuance, FlowKind::Presentation, FlowKind::SignIn];
    let most: u64 = of_organisations.into_iter().map(kept_most).sum();
    assert_eq!(most, FLOWS_MAX);
}

#[tokio::test]
async fn nothing_is_on_until_it_is_switched_on_and_that_ends_by_itself() {
    let (wires, other) = (wires().await, tenant("lake"));
    let tenant = tenant("issuer");
    assert!(!wires.is_on(&tenant).await.unwrap());
    let switch = wires.set(&tenant, true).await.unwrap();
    assert!(switch.is_on && switch.until.is_some());
    assert!(wires.is_on(&tenant).await.unwrap());
    assert!(!wires.is_on(&other).await.unwrap());
    wires.0.clock.advance(ON_SECONDS + 1);
    assert!(!wires.is_on(&tenant).await.unwrap());
    wires.set(&tenant, true).await.unwrap();
    let off = wires.set(&tenant, false).await.unwrap();
    assert_eq!(off, WireSwitch::default());
    assert!(!wires.is_on(&tenant).await.unwrap());
}

#[tokio::test]
async fn flows_are_erased_one_by_one_and_all_at_once() {
    let (wires, tenant) = (wires().await, tenant("issuer"));
    offer().record(&wires, &tenant).await;
    nonce().record(&wires, &tenant).await;
    let kind = FlowKind::Issuance;
    let flow = wires.flow_of(&tenant, kind, "offer-1").await.unwrap();
    wires.erase(&tenant, kind, &flow.id).await.unwrap();
    assert!(wires.flow(&tenant, kind, &flow.id).await.is_err());
    for _ in 0..3 {
        offer().record(&wires, &tenant).await;
    }
    wires.erase_all(&tenant).await.unwrap();
    let listed = wires.list(&tenant, kind, &Paging::default()).await.unwrap();
    assert!(listed.items.is_empty());
    assert!(wires.waiting().is_empty());
}
