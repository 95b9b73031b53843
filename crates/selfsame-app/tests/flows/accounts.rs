//! People's accounts: requirements on addresses and passwords, limits on guessing, the end of a session.

use std::sync::Arc;
use std::time::Duration;

use selfsame_app::App;
use selfsame_crypto::SecretString;
use selfsame_driver::ErrorKind;
use selfsame_wallet::Whence;

use crate::world::{Site, WalletHost};

const EMAIL: &str = "maja@example.org";
const RIGHT: &str = "correct horse battery";

fn secret(text: &str) -> SecretString {
    SecretString::from(text.to_owned())
}

fn at(address: &str) -> Whence {
    Whence::of(address.parse().unwrap(), None)
}

async fn wallet() -> (Site, Arc<App>) {
    let site = Site::start().await;
    let app = WalletHost::new(&site).open().await;
    (site, app)
}

async fn registered() -> (Site, Arc<App>) {
    let (site, app) = wallet().await;
    let accounts = app.wallet().unwrap().accounts();
    accounts.register(EMAIL, secret(RIGHT)).await.unwrap();
    (site, app)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_takes_an_address_and_a_password_of_ten_characters() {
    let (_site, app) = wallet().await;
    let accounts = app.wallet().unwrap().accounts();
    for (email, password) in [
        (EMAIL, "ninechars".to_owned()),
        (EMAIL, "x".repeat(257)),
        ("stranger", RIGHT.to_owned()),
        ("a@b@c", RIGHT.to_owned()),
        ("a b@c", RIGHT.to_owned()),
        ("@c", RIGHT.to_owned()),
    ] {
        let error = accounts
            .register(email, secret(&password))
            .await
            .map(drop)
            .unwrap_err();
        assert_eq!(
            error.kind,
            ErrorKind::BadRequest,
            "{email} {}",
            password.len()
        );
    }
    // Characters are counted rather than bytes, and upper or lower case does not make another person.
    accounts
        .register(EMAIL, secret("ÄÖÜäöüßéèê"))
        .await
        .unwrap();
    let again = accounts.register(" Maja@Example.org ", secret(RIGHT)).await;
    assert_eq!(again.map(drop).unwrap_err().kind, ErrorKind::Conflict);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_ten_wrong_passwords_the_right_one_must_wait() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    for peer in 0..10 {
        // Each from another address, all in one neighbourhood.
        let peer = format!("198.51.100.{peer}");
        let wrong = accounts
            .sign_in(EMAIL, secret("wrong password"), &at(&peer))
            .await;
        assert_eq!(
            wrong.map(drop).unwrap_err().kind,
            ErrorKind::Unauthenticated
        );
    }
    let slowed = accounts
        .sign_in(EMAIL, secret(RIGHT), &at("198.51.100.99"))
        .await;
    let ErrorKind::TooMany { retry_after } = slowed.map(drop).unwrap_err().kind else {
        panic!("the eleventh attempt was let through");
    };
    app.clock().advance(retry_after);
    accounts
        .sign_in(EMAIL, secret(RIGHT), &at("198.51.100.99"))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_others_lock_no_account() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    let devices = accounts.know_device(EMAIL, None).await.unwrap();
    for _ in 0..10 {
        let wrong = accounts
            .sign_in(EMAIL, secret("wrong password"), &at("198.51.100.1"))
            .await;
        assert!(wrong.is_err());
    }
    let sign_in = async |address: &str, devices: Option<&str>| {
        let whence = Whence::of(address.parse().unwrap(), devices);
        accounts.sign_in(EMAIL, secret(RIGHT), &whence).await
    };
    assert!(sign_in("198.51.100.1", None).await.is_err());
    // From elsewhere, and from the same address with a device that has signed in before.
    sign_in("192.0.2.1", None).await.unwrap();
    sign_in("198.51.100.1", Some(&devices)).await.unwrap();

    // An attacker who has only the device gets no more guesses than others.
    let device = Whence::of("203.0.113.1".parse().unwrap(), Some(&devices));
    for _ in 0..10 {
        let wrong = accounts.sign_in(EMAIL, secret("wrong password"), &device);
        assert_eq!(
            wrong.await.map(drop).unwrap_err().kind,
            ErrorKind::Unauthenticated
        );
    }
    let slowed = accounts.sign_in(EMAIL, secret(RIGHT), &device).await;
    let slowed = slowed.map(drop).unwrap_err().kind;
    assert!(matches!(slowed, ErrorKind::TooMany { .. }), "{slowed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_made_at_once_are_all_counted() {
    let (_site, app) = registered().await;
    let mut tasks = tokio::task::JoinSet::new();
    for peer in 0..30 {
        let app = app.clone();
        tasks.spawn(async move {
            let accounts = app.wallet().unwrap().accounts();
            let peer = format!("198.51.100.{peer}");
            let guessed = accounts
                .sign_in(EMAIL, secret("wrong password"), &at(&peer))
                .await;
            guessed.map(drop).unwrap_err().kind
        });
    }
    let looked_at = tasks.join_all().await;
    let looked_at = looked_at
        .iter()
        .filter(|kind| **kind == ErrorKind::Unauthenticated);
    assert_eq!(looked_at.count(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_sign_in_at_once_by_right_passwords_wait_a_moment_and_no_longer() {
    let (_site, app) = registered().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let app = app.clone();
        tasks.spawn(async move {
            let accounts = app.wallet().unwrap().accounts();
            let signed_in = accounts
                .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
                .await;
            signed_in.map(drop).map_err(|error| error.kind)
        });
    }
    let moment = ErrorKind::TooMany { retry_after: 1 };
    for signed_in in tasks.join_all().await {
        assert!(
            signed_in.is_ok() || signed_in == Err(moment),
            "{signed_in:?}"
        );
    }
    let accounts = app.wallet().unwrap().accounts();
    accounts
        .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_that_is_cancelled_before_its_answer_counts_no_guess() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    for _ in 0..60 {
        let whence = at("192.0.2.1");
        let sign_in = accounts.sign_in(EMAIL, secret("wrong password"), &whence);
        assert!(
            tokio::time::timeout(Duration::from_micros(1), sign_in)
                .await
                .is_err()
        );
    }
    accounts
        .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_peer_tries_many_accounts_slowly_and_locks_no_other_peer_out() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    accounts
        .register("mallory@example.org", secret(RIGHT))
        .await
        .unwrap();
    let sign_in = async |email: &str, peer: &str| {
        let signed_in = accounts.sign_in(email, secret(RIGHT), &at(peer)).await;
        signed_in.map(drop).map_err(|error| error.kind)
    };
    let mut looked_at = 0;
    for number in 0..60 {
        // Having an account of one's own does not clear the count.
        if number % 9 == 8 && looked_at < 50 {
            sign_in("mallory@example.org", "192.0.2.1").await.unwrap();
        }
        let email = format!("stranger-{number}@example.org");
        match sign_in(&email, "192.0.2.1").await {
            Err(ErrorKind::Unauthenticated) => looked_at += 1,
            Err(ErrorKind::TooMany { .. }) => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(looked_at, 50);
    // Continues as fast as the limit allows.
    for number in 60..66 {
        app.clock().advance(32);
        let email = format!("stranger-{number}@example.org");
        let guessed = sign_in(&email, "192.0.2.1").await;
        assert_eq!(guessed.unwrap_err(), ErrorKind::Unauthenticated);
    }
    let refused = sign_in(EMAIL, "192.0.2.1").await.unwrap_err();
    let ErrorKind::TooMany { retry_after } = refused else {
        panic!("{refused:?}");
    };
    assert!((2..=32).contains(&retry_after), "{retry_after}");
    sign_in(EMAIL, "192.0.2.2").await.unwrap();
    app.clock().advance(retry_after);
    sign_in(EMAIL, "192.0.2.1").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_of_one_peer_at_many_accounts_made_at_once_are_all_counted() {
    let (_site, app) = registered().await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..70 {
        let app = app.clone();
        tasks.spawn(async move {
            let accounts = app.wallet().unwrap().accounts();
            let email = format!("stranger-{number}@example.org");
            let guessed = accounts
                .sign_in(&email, secret(RIGHT), &at("192.0.2.1"))
                .await;
            guessed.map(drop).unwrap_err().kind
        });
    }
    let refused = tasks.join_all().await;
    let looked_at = refused
        .iter()
        .filter(|kind| **kind == ErrorKind::Unauthenticated);
    assert_eq!(looked_at.count(), 50, "{refused:?}");
    let accounts = app.wallet().unwrap().accounts();
    app.clock().advance(32);
    accounts
        .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_right_password_makes_up_for_wrong_ones() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    for _ in 0..2 {
        for _ in 0..9 {
            let wrong = accounts
                .sign_in(EMAIL, secret("wrong password"), &at("192.0.2.1"))
                .await;
            assert_eq!(
                wrong.map(drop).unwrap_err().kind,
                ErrorKind::Unauthenticated
            );
        }
        accounts
            .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(
    clippy::disallowed_methods,
    reason = "the time it takes is what is tested"
)]
async fn an_unknown_address_takes_as_long_as_a_wrong_password() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    // The fastest attempt of each kind is the undisturbed one; on a busy machine it may take many attempts.
    let mut fastest = [Duration::MAX; 2];
    for number in 0..60 {
        for (fastest, email) in fastest.iter_mut().zip([EMAIL, "stranger@example.org"]) {
            let began = std::time::Instant::now();
            let peer = format!("198.51.100.{number}");
            let wrong = accounts
                .sign_in(email, secret("wrong password"), &at(&peer))
                .await;
            assert_eq!(
                wrong.map(drop).unwrap_err().kind,
                ErrorKind::Unauthenticated
            );
            *fastest = began.elapsed().min(*fastest);
        }
        let [known, unknown] = fastest;
        if number >= 4 && unknown * 3 > known && known * 3 > unknown {
            return;
        }
        // So that these guesses do not lock the account.
        app.clock().advance(120);
    }
    panic!("{fastest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_time_or_with_signing_out() {
    let (_site, app) = registered().await;
    let accounts = app.wallet().unwrap().accounts();
    let first = accounts
        .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
        .await
        .unwrap();
    let second = accounts
        .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
        .await
        .unwrap();
    let person = accounts.person(&first.token).await.unwrap();
    assert_eq!(person.email, EMAIL);
    accounts.sign_out(&first.token).await.unwrap();
    let over = accounts.person(&first.token).await.unwrap_err();
    assert_eq!(over.kind, ErrorKind::Unauthenticated);
    // The real clock also advances meanwhile, on a busy machine by seconds.
    app.clock().advance(second.expires_in - 60);
    accounts.person(&second.token).await.unwrap();
    app.clock().advance(60);
    let over = accounts.person(&second.token).await.unwrap_err();
    assert_eq!(over.kind, ErrorKind::Unauthenticated);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_read_while_it_ends_is_not_remembered() {
    let site = Site::start().await;
    let host = WalletHost::new(&site);
    let app = host.open().await;
    let accounts = app.wallet().unwrap().accounts();
    accounts.register(EMAIL, secret(RIGHT)).await.unwrap();
    for _ in 0..5 {
        let session = accounts
            .sign_in(EMAIL, secret(RIGHT), &at("192.0.2.1"))
            .await;
        let token = session.unwrap().token;
        // Another process has an empty cache.
        let other = host.open().await;
        let accounts = other.wallet().unwrap().accounts();
        let (read, ended) = tokio::join!(accounts.person(&token), accounts.sign_out(&token));
        // The record was read before the session ended, so it could have been cached.
        read.unwrap();
        ended.unwrap();
        assert!(accounts.person(&token).await.is_err());
    }
}
