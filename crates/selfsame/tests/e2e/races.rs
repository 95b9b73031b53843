//! What can be used once is used once, however many clients try at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;

use serde_json::json;

use crate::foreign::{Asked, Holder, ask, binding, bound, holder};
use crate::http::{Api, Reply};
use crate::postgres_server::Server;
use crate::replicas_rig::Replicas;
use crate::rig::{World, assert_error, get, items, offer, person, post, take, text, verdict};

/// The answers to 32 clients that send the same request at the same time.
fn race(what: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Vec<Reply> {
    let (what, start) = (Arc::new(what), Arc::new(Barrier::new(32)));
    let clients = (0..32).map(|number| {
        let (what, start) = (what.clone(), start.clone());
        thread::spawn(move || {
            start.wait();
            what(number)
        })
    });
    clients
        .collect::<Vec<_>>()
        .into_iter()
        .map(|client| client.join().unwrap())
        .collect()
}

fn winners(replies: &[Reply]) -> usize {
    replies.iter().filter(|reply| reply.is_success()).count()
}

#[test]
fn a_single_use_code_raced_by_32_wallets_is_redeemed_once() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({}));
    let (origin, link) = (world.anybody(), made.clone());
    let replies = race(move |_| Holder::of(&link, &origin).redeem(&[]));
    assert_eq!(winners(&replies), 1);
    for reply in replies.iter().filter(|reply| !reply.is_success()) {
        assert_error(reply, 400, "invalid_grant");
    }
    let state = get(
        &world.operator,
        &format!("/api/issuer/offers/{}", text(&made, "id")),
    );
    assert_eq!(
        (state["uses_left"].as_u64(), state["state"].as_str()),
        (Some(0), Some("taken"))
    );
}

#[test]
fn a_code_of_three_uses_raced_by_32_wallets_is_redeemed_thrice() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({"uses": 3}));
    let origin = world.anybody();
    let replies = race(move |_| Holder::of(&made, &origin).redeem(&[]));
    assert_eq!(winners(&replies), 3);
}

#[test]
fn a_nonce_raced_by_32_wallets_with_tokens_of_their_own_is_spent_once() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({"uses": 32}));
    let wallets: Vec<(Holder, String)> = (0..32)
        .map(|_| {
            let holder = Holder::of(&made, &world.anybody());
            let token = holder.token();
            (holder, token)
        })
        .collect();
    let nonce = wallets[0].0.nonce();
    let replies = race(move |number| {
        let (holder, token) = &wallets[number];
        holder.ask(token, &[holder.proof(&nonce)])
    });
    assert_eq!(winners(&replies), 1);
    for reply in replies.iter().filter(|reply| !reply.is_success()) {
        assert_error(reply, 400, "invalid_nonce");
    }
}

/// How often two replicas race, for each thing that can be used once.
const ROUNDS: usize = 6;

#[test]
fn of_two_replicas_one_redeems_a_code_one_takes_a_nonce_and_one_spends_a_credential() {
    let server = Server::shared();
    let replicas = Replicas::start(&server.fresh(), 2);
    let operator = replicas.operator();
    let anybody = operator.with_token("");
    for _ in 0..ROUNDS {
        let (made, origin) = (offer(&operator, &json!({})), anybody.clone());
        let replies = race(move |_| Holder::of(&made, &origin).redeem(&[]));
        assert_eq!(winners(&replies), 1, "{replies:?}");
    }
    let made = offer(&operator, &json!({"uses": ROUNDS * 32}));
    for _ in 0..ROUNDS {
        let wallets = (0..32).map(|_| {
            let holder = Holder::of(&made, &anybody);
            let token = holder.token();
            (holder, token)
        });
        let wallets: Vec<(Holder, String)> = wallets.collect();
        let nonce = wallets[0].0.nonce();
        let replies = race(move |number| {
            let (holder, token) = &wallets[number];
            holder.ask(token, &[holder.proof(&nonce)])
        });
        assert_eq!(winners(&replies), 1, "{replies:?}");
    }
    let erika = person(&anybody, "erika");
    for _ in 0..ROUNDS {
        assert_eq!(outcomes_of_spending_at_once(&operator, &erika), 1);
    }
}

/// Gives a person a prescription, and has it dispensed by eight requests at the same time. Returns how many succeeded.
fn outcomes_of_spending_at_once(operator: &Api, erika: &Api) -> usize {
    take(erika, &offer(operator, &json!({"type": "prescription"})));
    let ask = json!({"type": "prescription", "spend": true});
    let asked: Vec<_> = (0..8)
        .map(|_| post(operator, "/api/verifier/requests", &ask))
        .collect();
    let outcomes = thread::scope(|scope| {
        let dispensed = asked.iter().map(|asked| {
            scope.spawn(move || {
                let body = json!({"request": asked["uri"], "policy": "newest"});
                let answered = erika.send("POST", "/api/wallet/requests/answer", Some(&body));
                let state = verdict(operator, asked);
                let outcome = state["verdict"]["outcome"].as_str().map(str::to_owned);
                outcome.unwrap_or_else(|| panic!("{state} {answered:?}"))
            })
        });
        let dispensed: Vec<_> = dispensed.collect();
        let outcomes = dispensed.into_iter().map(|one| one.join().unwrap());
        outcomes.collect::<Vec<_>>()
    });
    let spent = outcomes
        .iter()
        .filter(|outcome| *outcome == "spent")
        .count();
    let valid = outcomes
        .iter()
        .filter(|outcome| *outcome == "valid")
        .count();
    assert_eq!(spent + valid, outcomes.len(), "{outcomes:?}");
    valid
}

#[test]
fn one_access_token_raced_by_32_requests_issues_one_credential() {
    let world = World::start(&[]);
    let made = offer(&world.operator, &json!({}));
    let holder = Holder::of(&made, &world.anybody());
    let token = holder.token();
    let proof = holder.proof(&holder.nonce());
    let replies = race(move |_| holder.ask(&token, std::slice::from_ref(&proof)));
    let credentials: BTreeSet<String> = replies
        .iter()
        .filter(|reply| reply.is_success())
        .map(|reply| text(&reply.json()["credentials"][0], "credential"))
        .collect();
    assert_eq!(
        credentials.len(),
        1,
        "the same request gets the same credential"
    );
    let issued = get(
        &world.operator,
        &format!("/api/issuer/credentials?offer={}", text(&made, "id")),
    );
    assert_eq!(items(&issued).len(), 1);
}

#[test]
fn one_request_answered_by_32_wallets_at_once_is_answered_once() {
    let world = World::start(&[]);
    let holder = holder(&world, &json!({}));
    let credential = holder.credential();
    let made = ask(&world.operator);
    let asked = Asked::read(&made);
    let presentation = bound(&credential, &holder.key, &binding(&asked));
    let replies = race(move |_| asked.present(&presentation));
    assert_eq!(winners(&replies), 1);
    // A few are verified at once; the others must try again.
    for reply in replies.iter().filter(|reply| !reply.is_success()) {
        match reply.status {
            429 => assert!(reply.header("retry-after").is_some(), "{reply:?}"),
            _ => assert_error(reply, 400, "invalid_request"),
        }
    }
    assert_eq!(
        verdict(&world.operator, &made)["verdict"]["outcome"],
        "valid"
    );
}
