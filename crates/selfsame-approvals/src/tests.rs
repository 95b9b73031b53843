//! What a wallet gets at each point of a request's life, and what decisions do, one after the other and at once.

use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey, SecretString};
use selfsame_driver::clock::Clock;
use selfsame_driver::record::events::{EventKind, Events};
use selfsame_oauth::client::possession::ProvenRequest;
use selfsame_openid4vc_messages::error::Error as Protocol;
use selfsame_store::{Batch, Memory, Put, Store, TenantId, Vault};
use serde_json::json;
use url::Url;

use crate::deferral::{
    Decision, DeferralRecord, DeferralState, LookOutcome, RequestedCredential, WAITING,
};
use crate::possession::{GRANT, NONCE, OwnToken, Possession, PresentedOwn};
use crate::view::{ApprovalState, WhichApprovals};
use crate::{Approvals, id_of};

const NOW: UnixTime = UnixTime(1_000_000);

fn record() -> DeferralRecord {
    let claims = json!({"name": "Ada Lovelace"});
    DeferralRecord {
        grant: GRANT.to_owned(),
        request: r#"{"credential_configuration_id":"badge"}"#.to_owned(),
        holders: Vec::new(),
        wanted: RequestedCredential {
            type_id: "badge".to_owned(),
            version: Some(1),
            format: "dc+sd-jwt".to_owned(),
            offer: "offer".to_owned(),
            label: None,
            claims: claims.as_object().unwrap().clone(),
        },
        asked: NOW,
        until: NOW.plus(3_600),
        interval: 60,
        state: DeferralState::Waiting,
    }
}

fn refused(look: Result<LookOutcome, Protocol>) -> Option<&'static str> {
    look.err().and_then(|error| error.code())
}

#[test]
fn a_look_is_answered_by_the_state_of_its_request() {
    let mut record = record();
    assert_eq!(record.look(GRANT, NOW), Ok(LookOutcome::NotYet));
    assert!(record.decide(&Decision::Approve, NOW.plus(5)).unwrap());
    assert_eq!(record.look(GRANT, NOW), Ok(LookOutcome::Ready));
    record.deliver(NOW.plus(10));
    let lost = NOW.plus(10 + 119);
    assert_eq!(record.look(GRANT, lost), Ok(LookOutcome::Repeated));
    let used = record.look(GRANT, NOW.plus(10 + 120));
    assert_eq!(refused(used), Some("invalid_transaction_id"));
    assert!(record.wanted.claims.is_empty());
}

#[test]
fn a_request_that_was_refused_is_denied_and_forgets_its_claims() {
    let mut record = record();
    let refusal = Decision::refusal(Some(" Unknown. ")).unwrap();
    assert!(record.decide(&refusal, NOW).unwrap());
    let denied = record.look(GRANT, NOW);
    assert_eq!(refused(denied), Some("credential_request_denied"));
    let view = record.view("id");
    assert_eq!(view.reason.as_deref(), Some("Unknown."));
    assert!(view.claims.is_empty() && record.request.is_empty());
}

#[test]
fn a_look_with_another_token_or_after_the_end_finds_nothing() {
    for decided in [None, Some(Decision::Approve), Some(Decision::Refuse(None))] {
        let mut record = record();
        if let Some(decision) = decided {
            record.decide(&decision, NOW).unwrap();
        }
        for (grant, now) in [("other", NOW), ("", NOW), (GRANT, record.until)] {
            let look = record.look(grant, now);
            assert_eq!(refused(look), Some("invalid_transaction_id"), "{grant}");
        }
    }
}

#[test]
fn a_decision_stays_and_the_same_one_again_changes_nothing() {
    let (yes, no) = (Decision::Approve, Decision::Refuse(None));
    for (first, other) in [(&yes, &no), (&no, &yes)] {
        let mut record = record();
        assert!(record.decide(first, NOW).unwrap());
        let state = record.state.clone();
        assert!(!record.decide(first, NOW.plus(9)).unwrap());
        let refused = record.decide(other, NOW.plus(9)).unwrap_err();
        assert_eq!(refused.reason.id(), "approval-decided");
        assert_eq!(record.state, state);
    }
    let mut delivered = record();
    delivered.decide(&yes, NOW).unwrap();
    delivered.deliver(NOW);
    assert!(!delivered.decide(&yes, NOW).unwrap());
    assert!(delivered.decide(&no, NOW).is_err());
}

#[test]
fn nobody_decides_about_a_request_that_is_over() {
    let mut record = record();
    let end = record.until;
    let over = record.decide(&Decision::Approve, end).unwrap_err();
    assert_eq!(over.reason.id(), "approval-unknown");
    assert_eq!(record.state, DeferralState::Waiting);
}

#[test]
fn a_reason_is_one_line_of_bounded_length() {
    for (reason, kept) in [(None, None), (Some("  "), None), (Some("No."), Some("No."))] {
        let kept = Decision::Refuse(kept.map(str::to_owned));
        assert_eq!(Decision::refusal(reason).unwrap(), kept);
    }
    assert!(Decision::refusal(Some(&"ä".repeat(500))).is_ok());
    for bad in ["ä".repeat(501), "two\nlines".to_owned()] {
        let refused = Decision::refusal(Some(&bad)).unwrap_err();
        assert_eq!(refused.reason.id(), "refusal-reason-long");
    }
}

#[test]
fn claims_without_a_type_stand_under_the_names_that_lead_to_them() {
    let claims = json!({"name": "Ada", "address": {"city": "London", "lines": ["1", "2"]},
        "adult": true, "none": {}});
    let mut record = record();
    record.wanted.claims = claims.as_object().unwrap().clone();
    let plain = record.view("id").plain_claims();
    let mut said: Vec<_> = plain
        .iter()
        .map(|one| (one.name.as_str(), one.value.as_str()))
        .collect();
    said.sort_unstable();
    let expected = [
        ("address.city", "London"),
        ("address.lines", r#"["1","2"]"#),
        ("adult", "true"),
        ("name", "Ada"),
        ("none", "{}"),
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_record_of_an_older_program_is_read_without_the_version_of_its_type() {
    let mut older = serde_json::to_value(record()).unwrap();
    let wanted = older["wanted"].as_object_mut().unwrap();
    assert_eq!(wanted.remove("version"), Some(json!(1)));
    let read: DeferralRecord = serde_json::from_value(older).unwrap();
    assert_eq!(read.wanted.version, None);
    assert_eq!(read.look(GRANT, NOW), Ok(LookOutcome::NotYet));
}

#[test]
fn the_name_of_a_transaction_does_not_follow_from_the_id_of_its_record() {
    let id = id_of("8xLOxBtZp8");
    assert_eq!(id.len(), 22);
    assert_ne!(id_of(&id), id);
    assert_ne!(id_of("8xLOxBtZp9"), id);
}

/// The requests of an issuer in memory.
struct Desk {
    store: Store,
    events: Events,
    clock: Clock,
    tenant: TenantId,
}

impl Desk {
    async fn open() -> Self {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        Self {
            events: Events::new(store.clone()),
            store,
            clock: Clock::default(),
            tenant: TenantId::parse("issuer").unwrap(),
        }
    }

    fn approvals(&self) -> Approvals<'_> {
        Approvals {
            store: &self.store,
            events: &self.events,
            clock: &self.clock,
            tenant: &self.tenant,
        }
    }

    /// What a proof is refused with that comes with a token; none if it counts.
    async fn refused(&self, token: &str, proof: &str) -> Option<&'static str> {
        let possession = Possession {
            store: &self.store,
            clock: &self.clock,
            tenant: &self.tenant,
        };
        let presented = PresentedOwn {
            url: &credential_endpoint(),
            token,
            is_dpop: true,
            proof: Some(proof),
        };
        let taken = possession.at_resource(presented).await;
        taken.err().and_then(|error| error.code)
    }

    /// Keeps a request that waits.
    async fn keeps(&self, transaction: &str) -> String {
        self.keeps_of(transaction, None).await
    }

    /// Keeps a request that waits, of a person with this account.
    async fn keeps_of(&self, transaction: &str, account: Option<&str>) -> String {
        let now = self.clock.now();
        let record = DeferralRecord {
            asked: now,
            until: now.plus(3_600),
            ..record()
        };
        let id = id_of(transaction);
        let batch = Batch::new(self.tenant.clone())
            .put(record.put(&id).unwrap())
            .put(record.counted(&id, account));
        self.store.commit(batch).await.unwrap();
        id
    }

    /// The reason for which no more requests may wait, with its code; none if one more may.
    async fn crowded(&self, account: Option<&str>) -> Option<(String, Option<&'static str>)> {
        let room = self.approvals().check_room(account).await;
        room.err()
            .map(|error| (error.reason.id().to_owned(), error.code))
    }

    async fn listed(&self, state: ApprovalState) -> Vec<String> {
        let which = WhichApprovals {
            state: Some(state),
            ..WhichApprovals::default()
        };
        let listed = self.approvals().list(&which).await.unwrap();
        assert!(listed.items.iter().all(|one| one.claims.is_empty()));
        listed.items.into_iter().map(|one| one.id).collect()
    }
}

#[tokio::test]
async fn a_request_moves_from_list_to_list_with_its_state() {
    let desk = Desk::open().await;
    let (one, two) = (desk.keeps("one").await, desk.keeps("two").await);
    let waiting = desk.listed(ApprovalState::Waiting).await;
    assert_eq!(waiting, [two.clone(), one.clone()]);
    let approvals = desk.approvals();
    let seen = approvals.one(&one).await.unwrap();
    assert_eq!(seen.claims["name"], "Ada Lovelace");
    approvals.decide(&one, &Decision::Approve).await.unwrap();
    let refusal = Decision::Refuse(None);
    approvals.decide(&two, &refusal).await.unwrap();
    assert_eq!(desk.listed(ApprovalState::Approved).await, [one]);
    assert_eq!(desk.listed(ApprovalState::Refused).await, [two]);
    assert!(desk.listed(ApprovalState::Waiting).await.is_empty());
    let unknown = approvals.one("unknown").await.unwrap_err();
    assert_eq!(unknown.reason.id(), "approval-unknown");
}

#[tokio::test]
async fn twenty_requests_of_an_account_wait_and_no_more_until_one_is_decided() {
    let desk = Desk::open().await;
    let mut kept = Vec::new();
    for number in 0..20 {
        assert_eq!(desk.crowded(Some("maja")).await, None, "{number}");
        let transaction = format!("transaction {number}");
        kept.push(desk.keeps_of(&transaction, Some("maja")).await);
    }
    let code = Some("credential_request_denied");
    let full = Some(("approvals-of-account".to_owned(), code));
    assert_eq!(desk.crowded(Some("maja")).await, full);
    for other in [Some("eve"), None] {
        assert_eq!(desk.crowded(other).await, None);
    }
    let refusal = Decision::Refuse(None);
    let decided = desk.approvals().decide(&kept[3], &refusal).await;
    decided.unwrap();
    assert_eq!(desk.crowded(Some("maja")).await, None);
}

#[tokio::test]
async fn ten_thousand_requests_wait_at_an_issuer_and_no_more() {
    let desk = Desk::open().await;
    let id = desk.keeps("one").await;
    // A batch has a limit.
    for first in (1..10_000).step_by(1_000) {
        let numbers = first..10_000.min(first + 1_000);
        let put = |number| Put::new(WAITING, format!("seed{number}"), Vec::new());
        let batch = Batch::new(desk.tenant.clone());
        let batch = numbers.map(put).fold(batch, Batch::put);
        assert_eq!(desk.crowded(None).await, None);
        desk.store.commit(batch).await.unwrap();
    }
    let code = Some("credential_request_denied");
    let full = Some(("approvals-too-many".to_owned(), code));
    assert_eq!(desk.crowded(None).await, full);
    assert_eq!(desk.crowded(Some("maja")).await, full);
    let decided = desk.approvals().decide(&id, &Decision::Approve).await;
    decided.unwrap();
    assert_eq!(desk.crowded(None).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_decisions_at_once_one_counts_and_is_told_once() {
    let desk = Desk::open().await;
    for round in 0..20 {
        let id = desk.keeps(&format!("transaction {round}")).await;
        let approvals = desk.approvals();
        let (yes, no) = (Decision::Approve, Decision::Refuse(None));
        let (first, second, third) = tokio::join!(
            approvals.decide(&id, &yes),
            approvals.decide(&id, &no),
            approvals.decide(&id, &yes),
        );
        let taken = [first.is_ok(), second.is_ok(), third.is_ok()];
        assert!(
            taken == [true, false, true] || taken == [false, true, false],
            "{taken:?}"
        );
    }
    let told = [EventKind::ApprovalGiven, EventKind::ApprovalRefused];
    let told: u64 = told.into_iter().map(|kind| desk.events.count(kind)).sum();
    assert_eq!(told, 20);
}

#[tokio::test]
async fn what_was_looked_for_and_has_changed_since_is_not_delivered() {
    let desk = Desk::open().await;
    let id = desk.keeps("one").await;
    let approvals = desk.approvals();
    approvals.decide(&id, &Decision::Approve).await.unwrap();
    let sought = approvals.sought("one", GRANT).await.unwrap().unwrap();
    assert_eq!(sought.outcome, LookOutcome::Ready);
    let delivered = || {
        let batch = Batch::new(desk.tenant.clone());
        sought.delivered_in(batch, desk.clock.now()).unwrap()
    };
    desk.store.commit(delivered()).await.unwrap();
    assert!(desk.store.commit(delivered()).await.is_err());
    let again = approvals.sought("one", GRANT).await.unwrap().unwrap();
    assert_eq!(again.outcome, LookOutcome::Repeated);
    let other = approvals.sought("one", "other").await.unwrap();
    assert_eq!(
        refused(other.map(|sought| sought.outcome)),
        Some("invalid_transaction_id")
    );
    assert_eq!(
        approvals.grant_of("one").await.unwrap().as_deref(),
        Some(GRANT)
    );
    assert_eq!(approvals.grant_of("two").await.unwrap(), None);
}

fn credential_endpoint() -> Url {
    Url::parse("https://issuer.example/issuer/credential").unwrap()
}

#[tokio::test]
async fn a_proof_counts_once_and_none_is_kept_of_those_who_were_given_no_token() {
    let desk = Desk::open().await;
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let proof = |token: &str| {
        let token = SecretString::from(token.to_owned());
        let request = ProvenRequest {
            method: "POST",
            url: &credential_endpoint(),
            access_token: Some(&token),
            nonce: None,
        };
        let draft = request.draft(key.public(), &desk.clock.ctx());
        let signature = key.sign(draft.signing_input()).unwrap();
        draft.finish(&signature)
    };
    let foreign = proof("stranger");
    assert_eq!(
        desk.refused("stranger", &foreign).await,
        Some("invalid_token")
    );
    let kept = desk.store.count(&desk.tenant, NONCE, 10).await.unwrap();
    assert_eq!(kept, 0);
    let id = OwnToken::from("token").grant_id();
    let grant = Batch::new(desk.tenant.clone()).put(Put::new(GRANT, id, Vec::new()));
    desk.store.commit(grant).await.unwrap();
    let own = proof("token");
    assert_eq!(desk.refused("token", &own).await, None);
    assert_eq!(
        desk.refused("token", &own).await,
        Some("invalid_dpop_proof")
    );
    assert_eq!(
        desk.refused("token", &foreign).await,
        Some("invalid_dpop_proof")
    );
}
