//! Callers who flood, guess, or look for who is known.

use std::net::IpAddr;

use selfsame_crypto::SecretString;
use selfsame_driver::{ErrorKind, Result};
use selfsame_sign_in::identity::{OtpChannel, OtpSent, PersonsDevice};
use selfsame_sign_in::view::SignedInView;
use selfsame_sign_in::{CALLS_EACH, SignInVisitor, WantedOtp};
use serde_json::json;

use crate::world::{World, alice, code};

fn from(address: &str) -> IpAddr {
    address.parse().unwrap()
}

/// A visitor of a new sign-in, from this address.
async fn visitor(world: &World, address: &str) -> SignInVisitor {
    let view = world.asking(&[]).await;
    SignInVisitor {
        from: Some(PersonsDevice {
            address: from(address),
            known: None,
        }),
        ..world.visitor(&view.id)
    }
}

async fn guess(world: &World, address: &str, otp: &str) -> Result<SignedInView> {
    let visitor = visitor(world, address).await;
    world.provider.authenticate(&visitor, alice(otp)).await
}

async fn send(world: &World, identifier: &str, channel: OtpChannel) -> Result<OtpSent> {
    let visitor = visitor(world, "203.0.113.1").await;
    let wanted = WantedOtp {
        identifier: identifier.into(),
        channels: vec![channel],
    };
    world.provider.send_otp(&visitor, wanted).await
}

#[tokio::test]
async fn guesses_about_a_person_are_counted_over_sign_ins_and_for_one_network() {
    let world = World::new(json!({})).await;
    for _ in 0..15 {
        let wrong = guess(&world, "203.0.113.1", "000000").await.unwrap_err();
        assert_eq!(wrong.kind, ErrorKind::Unauthenticated);
    }
    let paused = guess(&world, "203.0.113.1", "111111").await.unwrap_err();
    let ErrorKind::TooMany { retry_after } = paused.kind else {
        panic!("{paused:?}");
    };
    assert!(retry_after <= 600, "{retry_after}");
    // A caller cannot lock out a person who is elsewhere, and the pause ends.
    guess(&world, "203.0.113.2", "111111").await.unwrap();
    world.shared.clock.advance(1_200);
    guess(&world, "203.0.113.1", "111111").await.unwrap();
}

#[tokio::test]
async fn one_time_passwords_for_a_person_are_counted_over_sign_ins() {
    let world = World::new(json!({})).await;
    for _ in 0..20 {
        send(&world, "alice", OtpChannel::Email).await.unwrap();
    }
    let refused = send(&world, "alice", OtpChannel::Email).await.unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::TooMany { .. }));
    send(&world, "bob", OtpChannel::Email).await.unwrap();
}

#[tokio::test]
async fn an_identifier_that_nobody_has_is_answered_as_one_that_somebody_has() {
    let world = World::new(json!({})).await;
    let known = send(&world, "alice", OtpChannel::Email).await.unwrap();
    assert!(known.masked_email.is_some());
    let unknown = send(&world, "bob", OtpChannel::Email).await.unwrap();
    let again = send(&world, "bob", OtpChannel::Email).await.unwrap();
    assert_eq!(unknown.masked_email, again.masked_email);
    assert!(unknown.masked_email.unwrap().ends_with("@gmail.com"));
    let phone = send(&world, "carol", OtpChannel::Phone).await.unwrap();
    assert_eq!(
        (phone.masked_phone.unwrap().len(), phone.masked_email),
        (10, None)
    );
}

#[tokio::test]
async fn the_calls_of_a_network_are_limited_and_those_of_this_machine_are_not() {
    let world = World::new(json!({})).await;
    let count = |address: &str| world.provider.count_call(from(address));
    for _ in 0..CALLS_EACH {
        count("2001:db8::1").unwrap();
        count("127.0.0.1").unwrap();
    }
    let refused = count("2001:db8::2").unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::TooMany { .. }));
    count("127.0.0.1").unwrap();
    count("2001:db8:0:1::1").unwrap();
    world.shared.clock.advance(1_200);
    count("2001:db8::2").unwrap();
}

#[tokio::test]
async fn of_the_calls_of_clients_only_wrong_authentications_are_counted() {
    let mut world = World::new(json!({})).await;
    let here = Some(from("203.0.113.1"));
    let given = SecretString::from("a.b");
    let right = world.secret.clone();
    for _ in 0..CALLS_EACH {
        let refused = world.provider.counting(here, world.redeem(&given)).await;
        assert_eq!(code(refused), Some("invalid_grant"));
    }
    world.secret = Some(SecretString::from("wrong"));
    for _ in 0..CALLS_EACH {
        let refused = world.provider.counting(here, world.redeem(&given)).await;
        assert_eq!(code(refused), Some("invalid_client"));
    }
    world.secret = right;
    let refused = world.provider.counting(here, world.redeem(&given)).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused.kind, ErrorKind::TooMany { .. }));
    let elsewhere = Some(from("203.0.113.2"));
    let refused = world.provider.counting(elsewhere, world.redeem(&given));
    assert_eq!(code(refused.await), Some("invalid_grant"));
}
