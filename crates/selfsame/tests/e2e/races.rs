//! What can be used once is used once, however many clients try at the same time.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;

use serde_json::json;

use crate::foreign::{Asked, Holder, ask, binding, bound, holder};
use crate::http::Reply;
use crate::rig::{World, assert_error, get, items, offer, text, verdict};

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
