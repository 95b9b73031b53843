//! Single-use prescriptions: used up once by one party, revoked on their issuer's behalf, never in between for long.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_audit::AuditFilter;
use selfsame_core::config::{NamedDid, TrustConfig};
use selfsame_core::organisation::OrganisationName;
use selfsame_credential::single_use::HANDLE;
use selfsame_credential::verdict::Outcome;
use selfsame_crypto::{KeyType, PrivateKey, jws};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_openid::view::issuer::{CredentialStatus, DelegationState, NewDelegation, NewOffer};
use selfsame_openid::view::verifier::{
    NewRequest, RequestState, SpendingState, VerificationStatus,
};
use selfsame_openid4vc::Transport;
use selfsame_openid4vc::wallet::offer::{OfferSource, locate};
use selfsame_wallet::view::Person;
use serde_json::json;

use crate::network::{Member, clinic_and_pharmacies, newest};
use crate::verifying::{by_hand, of_both};
use crate::world::{Fault, accept, belongings, new_offer, person};

const TRANSACTIONS: &str = "/registry/transactions";

/// A clinic, a pharmacy that may use up prescriptions, and a person with one.
async fn scene() -> (Member, Member, Person) {
    let (clinic, [pharmacy, _], person) = scene_of_two().await;
    (clinic, pharmacy, person)
}

/// With a second pharmacy, which has no permission yet.
async fn scene_of_two() -> (Member, [Member; 2], Person) {
    let (clinic, pharmacies) = clinic_and_pharmacies().await;
    clinic.delegate(&pharmacies[0], "consume").await;
    let person = person(&clinic.app).await;
    clinic.prescribe(&person).await;
    (clinic, pharmacies, person)
}

fn spending() -> NewRequest {
    NewRequest {
        spend: true,
        ..NewRequest::default()
    }
}

fn showing_the_handle() -> NewRequest {
    let claims = vec![vec!["identifier".to_owned()], vec![HANDLE.to_owned()]];
    NewRequest {
        claims: Some(claims),
        ..NewRequest::default()
    }
}

/// Requests, has the wallet answer, and returns the result.
async fn show(
    (clinic, person): (&Member, &Person),
    to: &Member,
    new: NewRequest,
) -> VerificationStatus {
    let (id, uri) = to.ask(new).await;
    let wallet = clinic.app.wallet().unwrap();
    wallet.answer_request(person, &newest(&uri)).await.unwrap();
    to.app
        .main()
        .verifier()
        .unwrap()
        .wait(&id, 60)
        .await
        .unwrap()
}

#[track_caller]
fn outcome(status: &VerificationStatus) -> Outcome {
    status.verdict.as_ref().expect("a verdict").outcome
}

#[track_caller]
fn state(status: &VerificationStatus) -> SpendingState {
    status.spending.as_ref().expect("a use was ordered").state
}

/// The detail of the rule on single use.
fn seen(status: &VerificationStatus) -> String {
    let verdict = status.verdict.as_ref().unwrap();
    let rules = &verdict.credentials[0].rules;
    let rule = rules.iter().find(|rule| rule.name == "single_use").unwrap();
    rule.detail.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prescription_is_used_up_once_and_everybody_learns_by_whom() {
    let (clinic, [pharmacy, other], person) = scene_of_two().await;
    let first = show((&clinic, &person), &pharmacy, spending()).await;
    assert_eq!(outcome(&first), Outcome::Valid, "{first:#?}");
    let done = first.spending.clone().unwrap();
    assert_eq!((done.state, done.by), (SpendingState::Done, pharmacy.did()));
    let transaction = done.seq_no.unwrap();
    let entry = clinic.app.registry().unwrap().entry(transaction).await;
    assert_eq!(entry.unwrap().author, pharmacy.did());

    let again = show((&clinic, &person), &other, NewRequest::default()).await;
    assert_eq!(outcome(&again), Outcome::Spent, "{again:#?}");
    let detail = seen(&again);
    let said = format!("spent by {}", pharmacy.did());
    assert!(detail.starts_with(&said), "{detail}");
    assert!(detail.ends_with(&format!("transaction {transaction}")));

    let wallet = clinic.app.wallet().unwrap();
    let cards = wallet.cards(&person, &Default::default()).await.unwrap();
    let card = wallet.card(&person, &cards.items[0].id).await.unwrap();
    let used = card.used.unwrap();
    assert_eq!(card.status, "spent");
    assert_eq!((&used.by, used.seq_no), (&pharmacy.did(), transaction));

    let history = wallet.history(&person, &Paging::default()).await.unwrap();
    let told: Vec<_> = history.items.iter().map(|entry| &entry.used).collect();
    assert_eq!(told, [&vec![], &vec![used.clone()], &vec![]]);
    let issuer = clinic.app.main().issuer().unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap();
    assert_eq!(issued.items[0].used, Some(used.clone()));
    let issued = issuer.issued_credential(&issued.items[0].id).await.unwrap();
    assert_eq!(issued.used, Some(used));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_for_one_use_is_looked_up_in_the_registry_once_when_it_is_shown() {
    let (clinic, pharmacy, _) = scene().await;
    // For a wallet at the pharmacy, the registry is remote.
    let person = person(&pharmacy.app).await;
    let wallet = pharmacy.app.wallet().unwrap();
    let offered = new_offer("prescription", "dc+sd-jwt");
    let offer = clinic
        .app
        .main()
        .issuer()
        .unwrap()
        .create_offer(&offered)
        .await;
    let accepting = accept(&offer.unwrap());
    wallet.accept_offer(&person, &accepting).await.unwrap();
    let card = wallet.cards(&person, &Paging::default()).await.unwrap();
    let id = card.items[0].id.clone();
    let calls = async || pharmacy.app.status().await.unwrap().outbound_requests;
    assert_eq!(wallet.card(&person, &id).await.unwrap().status, "valid");
    // The issuer's DID and its status list are cached by now.
    let issuer = clinic.app.main().issuer().unwrap().identity().did().clone();
    let registry = pharmacy.app.registry().unwrap();
    let before = calls().await;
    registry.used(&issuer, &[7; 32]).await.unwrap();
    let once = calls().await - before;
    wallet.card(&person, &id).await.unwrap();
    assert_eq!(calls().await - before - once, once);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_cards_shows_what_the_last_check_found_and_makes_no_call() {
    let (clinic, pharmacy, _) = scene().await;
    let person = person(&pharmacy.app).await;
    let wallet = pharmacy.app.wallet().unwrap();
    let issuer = clinic.app.main().issuer().unwrap();
    let offered = new_offer("immunization", "dc+sd-jwt");
    let offer = issuer.create_offer(&offered).await.unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    let listed = async || {
        let cards = wallet.cards(&person, &Paging::default()).await.unwrap();
        cards.items[0].status.clone()
    };
    assert_eq!(listed().await, None);
    wallet.check_cards(&person).await.unwrap();
    assert_eq!(listed().await.as_deref(), Some("valid"));
    let issued = issuer.issued(None, &Paging::default()).await.unwrap();
    let revoked = issuer.set_status(&issued.items[0].id, CredentialStatus::Revoked);
    revoked.await.unwrap();
    for member in [&clinic, &pharmacy] {
        member.app.clock().advance(120);
    }
    let unasked = listed().await;
    assert_eq!(unasked.as_deref(), Some("valid"), "as it was last seen");
    wallet.check_cards(&person).await.unwrap();
    assert_eq!(listed().await.as_deref(), Some("revoked"));
    // Without its issuer, the status that was found remains.
    clinic.app.stop().await;
    pharmacy.app.clock().advance(120);
    wallet.check_cards(&person).await.unwrap();
    assert_eq!(listed().await.as_deref(), Some("revoked"));
}

/// Most people who take medicine were born before the epoch of computer clocks.
#[tokio::test(flavor = "multi_thread")]
async fn who_was_born_in_1931_is_prescribed_for_and_believed() {
    let (clinic, [pharmacy]) = clinic_and_pharmacies().await;
    let person = person(&clinic.app).await;
    let born = json!({"patient": {"birth_date": "1931-02-28"}});
    let new = NewOffer {
        claims: born.as_object().unwrap().clone(),
        ..new_offer("prescription", "dc+sd-jwt")
    };
    let offer = clinic.app.main().issuer().unwrap().create_offer(&new).await;
    let wallet = clinic.app.wallet().unwrap();
    let accepting = accept(&offer.unwrap());
    wallet.accept_offer(&person, &accepting).await.unwrap();
    let asked = NewRequest {
        claims: Some(vec![vec!["patient".to_owned(), "birth_date".to_owned()]]),
        ..NewRequest::default()
    };
    let answered = show((&clinic, &person), &pharmacy, asked).await;
    assert_eq!(outcome(&answered), Outcome::Valid, "{answered:#?}");
    let verdict = answered.verdict.as_ref().unwrap();
    let shown = verdict.credentials[0].claims.as_ref().unwrap();
    assert_eq!(shown["patient"], born["patient"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_pharmacies_at_once_exactly_one_dispenses() {
    let (clinic, [pharmacy, other], person) = scene_of_two().await;
    clinic.delegate(&other, "consume").await;
    let (one, two) = tokio::join!(
        show((&clinic, &person), &pharmacy, spending()),
        show((&clinic, &person), &other, spending()),
    );
    let mut outcomes = [outcome(&one), outcome(&two)];
    outcomes.sort_by_key(|outcome| outcome.as_str());
    assert_eq!(
        outcomes,
        [Outcome::Spent, Outcome::Valid],
        "{one:#?} {two:#?}"
    );
    for status in [&one, &two] {
        let done = status.spending.as_ref().map(|spending| spending.state);
        match outcome(status) {
            Outcome::Valid => assert_eq!(done, Some(SpendingState::Done)),
            _ => assert_ne!(done, Some(SpendingState::Done)),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_counters_of_one_pharmacy_exactly_one_dispenses() {
    let (clinic, pharmacy, person) = scene().await;
    let shown = (0..6).map(|_| show((&clinic, &person), &pharmacy, spending()));
    let all = futures_joined(shown).await;
    let valid = all
        .iter()
        .filter(|status| outcome(status) == Outcome::Valid);
    assert_eq!(valid.count(), 1, "{all:#?}");
    assert!(
        all.iter()
            .all(|status| { matches!(outcome(status), Outcome::Valid | Outcome::Spent) })
    );
}

async fn futures_joined<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut waiting: Vec<_> = all.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = waiting.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (one, place) in waiting.iter_mut().zip(&mut done) {
            if place.is_none()
                && let std::task::Poll::Ready(value) = one.as_mut().poll(context)
            {
                *place = Some(value);
            }
        }
        match done.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// Waits until the use has ended.
async fn ended(app: &Arc<App>, id: &str) -> VerificationStatus {
    let status = app.main().verifier().unwrap().wait(id, 60).await.unwrap();
    assert_ne!(status.state, RequestState::Spending, "{status:#?}");
    status
}

/// Until the faults are cleared, the registry answers no transaction.
fn stay_silent(clinic: &Member, fault: Fault) {
    for _ in 0..200 {
        clinic.faults.add(TRANSACTIONS, fault);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_registry_is_silent_the_answer_is_not_valid_and_the_outbox_goes_on() {
    for fault in [Fault::Busy, Fault::CutBefore, Fault::CutAfter] {
        let (clinic, pharmacy, person) = scene().await;
        let (id, uri) = pharmacy.ask(spending()).await;
        stay_silent(&clinic, fault);
        let wallet = clinic.app.wallet().unwrap();
        wallet.answer_request(&person, &newest(&uri)).await.unwrap();
        let verifier = pharmacy.app.main().verifier().unwrap();
        let status = verifier.request(&id).await.unwrap();
        assert_eq!(status.state, RequestState::Spending, "{fault:?}");
        assert!(status.verdict.is_none());
        assert_eq!(state(&status), SpendingState::Pending);
        clinic.faults.clear();
        pharmacy.app.clock().advance(60);
        let status = ended(&pharmacy.app, &id).await;
        assert_eq!(outcome(&status), Outcome::Valid, "{fault:?}: {status:#?}");
        assert_eq!(state(&status), SpendingState::Done);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_dies_between_answer_and_registry_leaves_the_use_to_the_next() {
    for fault in [Fault::HangBefore, Fault::HangAfter] {
        let (clinic, pharmacy, person) = scene().await;
        let (id, uri) = pharmacy.ask(spending()).await;
        clinic.faults.add(TRANSACTIONS, fault);
        let (clinic_app, holder) = (clinic.app.clone(), person.clone());
        let answer = tokio::spawn(async move {
            let wallet = clinic_app.wallet().unwrap();
            let _ = wallet.answer_request(&holder, &newest(&uri)).await;
        });
        clinic.faults.is_met().await;
        // The process hangs in its call to the registry for good.
        pharmacy.app.stop().await;
        let next = pharmacy.reopened().await;
        let waiting = next.main().verifier().unwrap().request(&id).await.unwrap();
        assert_eq!(waiting.state, RequestState::Spending, "{fault:?}");
        next.clock().advance(60);
        let status = ended(&next, &id).await;
        assert_eq!(outcome(&status), Outcome::Valid, "{fault:?}: {status:#?}");
        assert_eq!(state(&status), SpendingState::Done);
        answer.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_delegation_uses_nothing_up_and_is_told() {
    let (clinic, [pharmacy]) = clinic_and_pharmacies().await;
    let person = person(&clinic.app).await;
    clinic.prescribe(&person).await;
    // Permission to revoke does not include using up.
    clinic.delegate(&pharmacy, "revoke").await;
    let status = show((&clinic, &person), &pharmacy, spending()).await;
    assert_eq!(outcome(&status), Outcome::NotAuthorised);
    assert_eq!(state(&status), SpendingState::Refused);
    let verifier = pharmacy.app.main().verifier().unwrap();
    let again = verifier.recheck(&status.id).await.unwrap();
    assert_eq!(outcome(&again), Outcome::NotAuthorised, "{again:#?}");
    let reason = status.verdict.unwrap().reason.unwrap();
    assert!(reason.to_string().contains("delegation-absent"), "{reason}");
    let seen = show((&clinic, &person), &pharmacy, NewRequest::default()).await;
    assert_eq!(outcome(&seen), Outcome::Valid);
}

/// The outcome of using up a prescription of the clinic at the clinic itself.
async fn used_up_at_home(clinic: &Member, person: &Person) -> Outcome {
    clinic.prescribe(person).await;
    outcome(&show((clinic, person), clinic, spending()).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_uses_up_its_own_credentials_until_its_issuer_withdraws_that() {
    let (clinic, []) = clinic_and_pharmacies().await;
    let person = person(&clinic.app).await;
    assert_eq!(used_up_at_home(&clinic, &person).await, Outcome::Valid);
    assert_eq!(used_up_at_home(&clinic, &person).await, Outcome::Valid);
    let issuer = clinic.app.main().issuer().unwrap();
    let given = issuer.delegations(&Paging::default()).await.unwrap().items;
    let told: Vec<_> = given.iter().map(|one| (&*one.to, &*one.action)).collect();
    assert_eq!(told, [(&*clinic.did(), "consume")], "one is enough");
    let filter = AuditFilter {
        act: Some("DELEGATE ".to_owned()),
        ..AuditFilter::default()
    };
    let main = OrganisationName::main();
    let noted = clinic.app.trail().list(&main, &filter).await.unwrap().items;
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert_eq!(noted[0].actor.kind, "instance");
    let which = format!("prescription {}", clinic.did());
    assert_eq!(noted[0].detail, Some(which));
    issuer.withdraw_delegation(&given[0].id).await.unwrap();
    assert_eq!(
        used_up_at_home(&clinic, &person).await,
        Outcome::NotAuthorised
    );
    assert_eq!(
        issuer
            .delegations(&Paging::default())
            .await
            .unwrap()
            .items
            .len(),
        1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pharmacy_revokes_in_the_issuers_name_what_it_was_let_and_nothing_else() {
    let (clinic, pharmacy, person) = scene().await;
    let shown = show((&clinic, &person), &pharmacy, showing_the_handle()).await;
    assert_eq!(outcome(&shown), Outcome::Valid);
    let verifier = pharmacy.app.main().verifier().unwrap();
    verifier.revoke(&shown.id, None).await.unwrap_err();
    let given = clinic.delegate(&pharmacy, "revoke").await;
    assert_eq!(given.state, DelegationState::Active);
    let revoked = verifier.revoke(&shown.id, None).await.unwrap();
    assert_eq!(state(&revoked), SpendingState::Done);
    verifier.revoke(&shown.id, None).await.unwrap_err();
    let after = show((&clinic, &person), &pharmacy, NewRequest::default()).await;
    assert_eq!(outcome(&after), Outcome::Revoked);
    let said = format!("revoked by {}", pharmacy.did());
    assert!(seen(&after).starts_with(&said));
    let issuer = clinic.app.main().issuer().unwrap();
    let issued = issuer.issued(None, &Paging::default()).await.unwrap();
    let used = issued.items[0].used.as_ref().unwrap();
    assert_eq!(used.action, "revoked");
    assert_eq!(Some(used.seq_no), revoked.spending.unwrap().seq_no);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_delegation_does_not_name_cannot_be_done_under_it() {
    let (clinic, [pharmacy]) = clinic_and_pharmacies().await;
    let issuer = clinic.app.main().issuer().unwrap();
    for (types, reason) in [
        (["clinical-notes"], "type-not-single-use"),
        (["unheard-of"], "type-unknown"),
    ] {
        let new = NewDelegation {
            types: types.map(str::to_owned).to_vec(),
            ..pharmacy.wants("consume")
        };
        let refused = issuer.delegate(&new).await.unwrap_err();
        assert_eq!(refused.reason.id(), reason);
    }
    // Another type than the prescription's, of any issuer: the registry knows no types.
    let id = clinic.delegate(&pharmacy, "consume").await.id;
    let registry = pharmacy.app.registry().unwrap();
    let given = registry.delegation(issuer.identity().did(), &id).await;
    let given = given.unwrap().unwrap();
    assert_eq!(given.scope.len(), 1);
    assert!(given.scope[0].ends_with(":prescription"), "{given:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegation_ends_with_its_time() {
    let (clinic, [pharmacy]) = clinic_and_pharmacies().await;
    let issuer = clinic.app.main().issuer().unwrap();
    let until = clinic.app.clock().now().plus(3600);
    let new = NewDelegation {
        until: Some(until.rfc3339()),
        ..pharmacy.wants("consume")
    };
    issuer.delegate(&new).await.unwrap();
    let person = person(&clinic.app).await;
    clinic.prescribe(&person).await;
    for member in [&clinic, &pharmacy] {
        member.app.clock().advance(3600);
    }
    let status = show((&clinic, &person), &pharmacy, spending()).await;
    assert_eq!(state(&status), SpendingState::Refused, "{status:#?}");
    assert_eq!(outcome(&status), Outcome::NotAuthorised);
    let ended = issuer
        .delegations(&Paging::default())
        .await
        .unwrap()
        .items
        .remove(0);
    assert_eq!(ended.state, DelegationState::Expired);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_registry_has_the_last_word_on_a_delegation_that_ends_under_way() {
    let (clinic, pharmacy, person) = scene().await;
    let issuer = clinic.app.main().issuer().unwrap();
    let (id, uri) = pharmacy.ask(spending()).await;
    stay_silent(&clinic, Fault::CutBefore);
    let wallet = clinic.app.wallet().unwrap();
    wallet.answer_request(&person, &newest(&uri)).await.unwrap();
    let given = issuer
        .delegations(&Paging::default())
        .await
        .unwrap()
        .items
        .remove(0);
    issuer.withdraw_delegation(&given.id).await.unwrap();
    clinic.faults.clear();
    pharmacy.app.clock().advance(60);
    let status = ended(&pharmacy.app, &id).await;
    assert_eq!(state(&status), SpendingState::Refused, "{status:#?}");
    assert_eq!(outcome(&status), Outcome::Unverifiable);
    let reason = status.verdict.unwrap().reason.unwrap();
    assert!(reason.to_string().contains("withdrawn"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delegation_that_was_withdrawn_is_good_for_nothing_and_a_new_one_is() {
    let (clinic, pharmacy, person) = scene().await;
    let issuer = clinic.app.main().issuer().unwrap();
    let first = issuer
        .delegations(&Paging::default())
        .await
        .unwrap()
        .items
        .remove(0);
    let ended = issuer.withdraw_delegation(&first.id).await.unwrap();
    assert_eq!(ended.state, DelegationState::Withdrawn);
    let refused = show((&clinic, &person), &pharmacy, spending()).await;
    assert_eq!(state(&refused), SpendingState::Refused);
    let second = clinic.delegate(&pharmacy, "consume").await;
    assert_ne!(second.id, first.id);
    let status = show((&clinic, &person), &pharmacy, spending()).await;
    assert_eq!(outcome(&status), Outcome::Valid);
    assert_eq!(state(&status), SpendingState::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wallet_says_that_showing_the_handle_uses_the_card_up_and_keeps_it_back_otherwise() {
    let (clinic, pharmacy, person) = scene().await;
    let wallet = clinic.app.wallet().unwrap();
    for (new, uses_up) in [(spending(), true), (NewRequest::default(), false)] {
        let (_, uri) = pharmacy.ask(new).await;
        let preview = wallet.preview_request(&person, &uri).await.unwrap();
        let choice = &preview.shares[0].choices[0];
        assert_eq!(choice.uses_up, uses_up);
        let named = choice
            .claims
            .iter()
            .any(|claim| claim.label == "Single use");
        assert_eq!(named, uses_up);
    }
    let plain = show((&clinic, &person), &pharmacy, NewRequest::default()).await;
    let claims = &plain.verdict.unwrap().credentials[0].claims;
    assert!(claims.as_ref().unwrap().get(HANDLE).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_alternatives_one_leaves_the_wallet_and_not_one_that_is_used_up_by_it() {
    let (clinic, pharmacy, person) = scene().await;
    let wallet = clinic.app.wallet().unwrap();
    let new = new_offer("immunization", "dc+sd-jwt");
    let offer = clinic
        .app
        .main()
        .issuer()
        .unwrap()
        .create_offer(&new)
        .await
        .unwrap();
    wallet.accept_offer(&person, &accept(&offer)).await.unwrap();
    let verifier = pharmacy.app.main().verifier().unwrap();
    let either = of_both(json!([{"options": [["prescription"], ["immunization"]]}]));
    let ask = async || verifier.create_request(&either).await.unwrap().uri;
    let preview = wallet.preview_request(&person, &ask().await).await.unwrap();
    assert!(preview.answerable && preview.missing.is_empty());
    let shares: Vec<_> = preview
        .shares
        .iter()
        .map(|share| (share.query.as_str(), share.required, share.preselected))
        .collect();
    assert_eq!(
        shares,
        [
            ("prescription", false, false),
            ("immunization", false, true)
        ]
    );
    assert_eq!(
        preview.sets[0].options,
        [["immunization"], ["prescription"]]
    );
    for too_many_or_few in [&["immunization", "prescription"][..], &[]] {
        let answer = by_hand(&preview, too_many_or_few);
        let refused = wallet.answer_request(&person, &answer).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest, "{refused:?}");
    }
    let chosen = by_hand(&preview, &["prescription"]);
    assert!(
        wallet
            .answer_request(&person, &chosen)
            .await
            .unwrap()
            .delivered
    );
    wallet
        .answer_request(&person, &newest(&ask().await))
        .await
        .unwrap();
    let (_, history) = belongings(&clinic.app, &person).await;
    assert_eq!((history[0].cards.len(), history[1].cards.len()), (1, 1));
    let handle = "Single use".to_owned();
    assert!(history[0].one_use.is_empty() && !history[0].claims.contains(&handle));
    assert!(history[1].claims.contains(&handle));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_registry_elsewhere_says_of_a_use_or_a_delegation_must_be_proven() {
    let (clinic, [pharmacy]) = clinic_and_pharmacies().await;
    let name = clinic.delegate(&pharmacy, "consume").await.id;
    let issuer = clinic.app.main().issuer().unwrap().identity().did().clone();
    let registry = pharmacy.app.registry().unwrap();
    for percent in [10, 50, 90] {
        clinic.faults.add("/registry/read", Fault::Alter(percent));
        let refused = registry.used(&issuer, &[7; 32]).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Upstream, "{percent}: {refused}");
        clinic.faults.add("/registry/read", Fault::Alter(percent));
        let refused = registry.delegation(&issuer, &name).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Upstream, "{percent}: {refused}");
    }
    let (unused, as_of) = registry.used(&issuer, &[7; 32]).await.unwrap();
    assert_eq!(unused, None);
    assert!(pharmacy.app.clock().now().seconds_since(as_of) <= 30);
    assert!(registry.delegation(&issuer, &name).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_that_few_know_by_its_did_asks_by_one_that_any_wallet_resolves() {
    let (clinic, pharmacy, person) = scene().await;
    let wallet = clinic.app.wallet().unwrap();
    let (id, uri) = pharmacy.ask(NewRequest::default()).await;
    let preview = wallet.preview_request(&person, &uri).await.unwrap();
    assert!(preview.verifier.authenticated);
    let client = &preview.verifier.client_id;
    assert!(
        client.starts_with("decentralized_identifier:did:jwk:"),
        "{client}"
    );
    // A changed setting applies only to requests created after it.
    let own = pharmacy.reopened_as(NamedDid::Own).await;
    let verifier = own.main().verifier().unwrap();
    let kid = async |id: &str| {
        let object = verifier.request_object(id, None).await.unwrap();
        let object = jws::Compact::parse(&object).unwrap();
        object.header.kid.unwrap()
    };
    assert!(kid(&id).await.starts_with("did:jwk:"));
    let asking = NewRequest {
        type_id: Some("prescription".to_owned()),
        ..NewRequest::default()
    };
    let made = verifier.create_request(&asking).await.unwrap();
    assert!(kid(&made.id).await.starts_with(&pharmacy.did()));
}

/// Requests a credential twice with one access token and different keys; returns how many were issued.
async fn given_to_two_keys(clinic: &Member, kind: &str) -> usize {
    let issuer = clinic.app.main().issuer().unwrap();
    let new = new_offer(kind, "dc+sd-jwt");
    let offer = issuer.create_offer(&new).await.unwrap();
    let transport = Transport::with_plain_origins([&clinic.origin]);
    let OfferSource::Value(offer) = locate(&offer.uri, &transport).unwrap() else {
        panic!("the offer is in the link");
    };
    let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
    let code = &offer.pre_authorized_code().unwrap().code;
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", grant)
        .append_pair("pre-authorized_code", code.expose())
        .finish();
    let token = issuer.token(form.as_bytes()).await.unwrap().access_token;
    let mut given = 0;
    for _ in 0..2 {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        let jwk = key.public().to_jwk().to_value();
        let header = json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": jwk});
        let nonce = serde_json::to_value(issuer.nonce()).unwrap();
        let claims = json!({
            "aud": offer.credential_issuer, "nonce": nonce["c_nonce"],
            "iat": clinic.app.clock().now().0,
        });
        let proof = jws::Unsigned::new(&header, &claims);
        let signature = key.sign(proof.signing_input()).unwrap();
        let request = json!({
            "credential_configuration_id": offer.credential_configuration_ids[0],
            "proofs": {"jwt": [proof.finish(&signature)]},
        });
        let body = request.to_string().into_bytes();
        match issuer.credential(token.expose(), &body).await {
            Ok(answer) => given += answer.plain().unwrap().credentials.len(),
            Err(error) => assert_eq!(error.code, Some("credential_request_denied")),
        }
    }
    given
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_for_one_use_is_not_issued_twice_for_one_access_token() {
    let (clinic, []) = clinic_and_pharmacies().await;
    assert_eq!(given_to_two_keys(&clinic, "prescription").await, 1);
    assert_eq!(given_to_two_keys(&clinic, "immunization").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn whom_a_verifier_trusts_can_change_while_it_runs_and_a_wrong_list_changes_nothing() {
    let (clinic, pharmacy, person) = scene().await;
    let counts = async || {
        let (id, uri) = pharmacy.ask(NewRequest::default()).await;
        let wallet = clinic.app.wallet().unwrap();
        // An answer that does not count may be refused at once.
        let _taken_or_refused = wallet.answer_request(&person, &newest(&uri)).await;
        let status = pharmacy.app.main().verifier().unwrap().request(&id).await;
        let verdict = status.unwrap().verdict;
        verdict.is_some_and(|verdict| verdict.outcome == Outcome::Valid)
    };
    let of = |issuers: &[&str]| TrustConfig {
        issuers: issuers.iter().map(|&issuer| issuer.to_owned()).collect(),
        ..TrustConfig::default()
    };
    let issuer = clinic
        .app
        .main()
        .issuer()
        .unwrap()
        .identity()
        .did()
        .to_string();
    assert!(counts().await);
    pharmacy.app.renew_trust(&of(&[])).unwrap();
    assert!(!counts().await);
    pharmacy.app.renew_trust(&of(&[&issuer])).unwrap();
    assert!(counts().await);

    let wrong = [
        of(&["unknown"]),
        TrustConfig {
            certificates: vec!["no certificate".to_owned()],
            ..of(&[])
        },
        TrustConfig {
            verifiers: vec!["redirect_uri:https://anybody.example/".to_owned()],
            ..of(&[])
        },
    ];
    for wrong in wrong {
        let refused = pharmacy.app.renew_trust(&wrong).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::BadRequest);
        assert!(counts().await);
    }
    let mut other = of(&[&issuer]);
    other.types.insert(issuer, vec!["urn:receipt".to_owned()]);
    pharmacy.app.renew_trust(&other).unwrap();
    assert!(!counts().await);
}
