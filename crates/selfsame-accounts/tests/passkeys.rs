//! Passkeys of accounts, in a store in memory that two processes share.

use std::sync::Arc;

use selfsame_accounts::{
    Accounts, AccountsParts, PasskeySignIn, Person, Realm, Registration, Whence,
};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, SecretString, json};
use selfsame_driver::clock::Clock;
use selfsame_driver::{CpuPool, ErrorKind, Result};
use selfsame_store::{Batch, Memory, Store, TenantId, Vault};
use serde::Serialize;
use serde_json::Value;

#[path = "../../selfsame-passkeys/tests/ceremonies/authenticator.rs"]
mod authenticator;

use authenticator::Authenticator;

const EMAIL: &str = "maja@example.org";
const PASSWORD: &str = "correct horse battery staple";
const ORIGIN: &str = "https://id.example";
const BROWSER: &str = "the browser";

/// Two processes with one store.
struct World {
    accounts: Accounts,
    elsewhere: Accounts,
    clock: Clock,
    store: Store,
}

impl World {
    async fn new() -> Self {
        Self::at(ORIGIN).await
    }

    async fn at(origin: &str) -> Self {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let store =
            Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
        let store = store.await.unwrap();
        let accounts = || {
            let parts = AccountsParts {
                store: store.clone(),
                clock: clock.clone(),
                work: CpuPool::new("test").unwrap(),
                origin: origin.parse().unwrap(),
                registration: Registration::Open,
            };
            Accounts::of(Realm::Wallets, parts)
        };
        Self {
            accounts: accounts(),
            elsewhere: accounts(),
            clock,
            store,
        }
    }

    async fn person(&self, email: &str) -> Person {
        let session = self.accounts.register(email, password()).await.unwrap();
        self.accounts.person(&session.token).await.unwrap()
    }

    async fn begun(&self, person: &Person) -> Result<Value> {
        let whence = whence();
        let begun = self.accounts.begin_passkey(person, password(), &whence);
        begun.await.map(|options| json(&options))
    }

    async fn add(&self, person: &Person, answer: &Value, name: &str) -> Result<()> {
        let answer = json::value_as(answer.clone()).unwrap();
        self.elsewhere.add_passkey(person, name, &answer).await
    }

    /// A person with a passkey.
    async fn with_passkey(&self) -> (Person, Authenticator) {
        let person = self.person(EMAIL).await;
        let mut one = authenticator();
        let answer = one.create(&self.begun(&person).await.unwrap());
        self.add(&person, &answer, "My phone").await.unwrap();
        (person, one)
    }

    async fn asked(&self) -> Value {
        json(&self.accounts.ask_passkey(BROWSER).await.unwrap())
    }

    async fn sign_in(&self, answer: &Value) -> Result<PasskeySignIn> {
        let answer = json::value_as(answer.clone()).unwrap();
        let accounts = &self.elsewhere;
        accounts
            .sign_in_with_passkey(BROWSER, &answer, &whence())
            .await
    }

    async fn refusal(&self, answer: &Value) -> ErrorKind {
        self.sign_in(answer).await.map(drop).unwrap_err().kind
    }
}

fn authenticator() -> Authenticator {
    Authenticator::new(KeyType::P256, "id.example", ORIGIN)
}

fn password() -> SecretString {
    SecretString::from(PASSWORD.to_owned())
}

fn whence() -> Whence {
    Whence::of([192, 0, 2, 1].into(), None)
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_that_one_process_asks_for_signs_in_at_another_without_a_password() {
    let world = World::new().await;
    let (person, mut one) = world.with_passkey().await;
    let before = world.clock.now();
    let signed_in = world
        .sign_in(&one.answer(&world.asked().await))
        .await
        .unwrap();
    assert_eq!(signed_in.email, EMAIL);
    let found = world
        .accounts
        .person(&signed_in.session.token)
        .await
        .unwrap();
    assert_eq!(found.tenant, person.tenant);
    let all = world.accounts.passkeys(&person).await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].name, "My phone");
    let used = all[0].used.unwrap();
    assert!(before <= used && used <= world.clock.now(), "{used:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_works_once_in_the_browser_and_the_time_that_it_was_asked_for() {
    let world = World::new().await;
    let (_, mut one) = world.with_passkey().await;
    let answer = one.answer(&world.asked().await);
    assert!(world.sign_in(&answer).await.is_ok());
    assert_eq!(world.refusal(&answer).await, ErrorKind::Unauthenticated);
    let elsewhere = json(&world.accounts.ask_passkey("another browser").await.unwrap());
    let answer = one.answer(&elsewhere);
    assert_eq!(world.refusal(&answer).await, ErrorKind::Unauthenticated);
    let answer = one.answer(&world.asked().await);
    world.clock.advance(300);
    assert_eq!(world.refusal(&answer).await, ErrorKind::Unauthenticated);
    let stranger = authenticator().answer(&world.asked().await);
    assert_eq!(world.refusal(&stranger).await, ErrorKind::Unauthenticated);
    assert!(
        world
            .sign_in(&one.answer(&world.asked().await))
            .await
            .is_ok()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_processes_that_get_an_answer_at_once_one_signs_in() {
    let world = World::new().await;
    let (_, mut one) = world.with_passkey().await;
    let answer = one.answer(&world.asked().await);
    let (first, second) = tokio::join!(world.sign_in(&answer), async {
        let answer = json::value_as(answer.clone()).unwrap();
        let accounts = &world.accounts;
        accounts
            .sign_in_with_passkey(BROWSER, &answer, &whence())
            .await
    });
    assert_ne!(first.is_ok(), second.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_added_by_its_session_with_the_password_once() {
    let world = World::new().await;
    let person = world.person(EMAIL).await;
    let wrong = SecretString::from("another password".to_owned());
    let begun = world
        .accounts
        .begin_passkey(&person, wrong, &whence())
        .await;
    assert_eq!(
        begun.map(drop).unwrap_err().kind,
        ErrorKind::Unauthenticated
    );
    let options = world.begun(&person).await.unwrap();
    let answer = authenticator().create(&options);
    let other = world.person("otto@example.org").await;
    let stolen = world.add(&other, &answer, "Mine").await.unwrap_err();
    assert_eq!(stolen.reason.id(), "passkey-outdated");
    for bad in ["", "  ", &"x".repeat(61), "a\nb"] {
        let error = world.add(&person, &answer, bad).await.unwrap_err();
        assert_eq!(error.reason.id(), "passkey-name-malformed", "{bad:?}");
    }
    world.add(&person, &answer, " My phone ").await.unwrap();
    assert_eq!(
        world.accounts.passkeys(&person).await.unwrap()[0].name,
        "My phone"
    );
    let again = world.add(&person, &answer, "Again").await.unwrap_err();
    assert_eq!(again.kind, ErrorKind::BadRequest);
    let options = world.begun(&person).await.unwrap();
    assert_eq!(options["excludeCredentials"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_is_renamed_and_removed_by_its_person_alone() {
    let world = World::new().await;
    let (person, mut one) = world.with_passkey().await;
    let other = world.person("otto@example.org").await;
    let id = world.accounts.passkeys(&person).await.unwrap()[0]
        .id
        .clone();
    let accounts = &world.accounts;
    for refused in [
        accounts.rename_passkey(&other, &id, "Mine").await,
        accounts.remove_passkey(&other, &id).await,
    ] {
        assert_eq!(refused.unwrap_err().kind, ErrorKind::NotFound);
    }
    accounts
        .rename_passkey(&person, &id, "Old phone")
        .await
        .unwrap();
    assert_eq!(
        accounts.passkeys(&person).await.unwrap()[0].name,
        "Old phone"
    );
    accounts.remove_passkey(&person, &id).await.unwrap();
    assert!(accounts.passkeys(&person).await.unwrap().is_empty());
    let answer = one.answer(&world.asked().await);
    assert_eq!(world.refusal(&answer).await, ErrorKind::Unauthenticated);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_passkey_does_not_outlive_its_account() {
    let world = World::new().await;
    let (person, mut one) = world.with_passkey().await;
    let batch = Batch::new(TenantId::instance());
    let batch = world.accounts.deletion(batch, EMAIL).await.unwrap();
    world.store.commit(batch).await.unwrap();
    // Somebody else gets the address.
    world.person(EMAIL).await;
    let answer = one.answer(&world.asked().await);
    assert_eq!(world.refusal(&answer).await, ErrorKind::Unauthenticated);
    assert!(world.accounts.passkeys(&person).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_answers_slow_down_their_address_and_no_account() {
    let world = World::new().await;
    let (_, mut one) = world.with_passkey().await;
    let wrong = one.answer(&json(&world.accounts.ask_passkey("another").await.unwrap()));
    for _ in 0..50 {
        assert_eq!(world.refusal(&wrong).await, ErrorKind::Unauthenticated);
    }
    let refused = world.refusal(&wrong).await;
    assert!(matches!(refused, ErrorKind::TooMany { .. }), "{refused:?}");
    let answer = json::value_as(one.answer(&world.asked().await)).unwrap();
    let whence = Whence::of([198, 51, 100, 1].into(), None);
    let accounts = &world.elsewhere;
    let elsewhere = accounts.sign_in_with_passkey(BROWSER, &answer, &whence);
    assert!(elsewhere.await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_at_an_address_without_a_domain_has_no_passkeys() {
    let world = World::at("https://192.0.2.7").await;
    assert!(!world.accounts.has_passkeys());
    let asked = world.accounts.ask_passkey(BROWSER).await;
    assert_eq!(asked.map(drop).unwrap_err().kind, ErrorKind::Conflict);
    assert!(World::new().await.accounts.has_passkeys());
}
