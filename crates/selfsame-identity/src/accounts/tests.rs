//! Own accounts behind the seam, in a store in memory.

use selfsame_accounts::{AccountsParts, Registration};
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::CpuPool;
use selfsame_driver::clock::Clock;
use selfsame_net::mail::{MailServer, MailSettings};
use selfsame_otp::totp::TotpHash;
use selfsame_sign_in::identity::{Challenge, PersonsDevice};
use selfsame_store::{Memory, Store, TenantId, Vault};

use super::*;
use crate::otp::{MailCarrier, OnScreen, OtpCarrier};

const EMAIL: &str = "maja@example.org";
const PASSWORD: &str = "correct horse battery staple";

struct World {
    system: OwnAccounts,
    screen: Arc<OnScreen>,
    clock: Clock,
}

/// A carrier that several hold.
struct Held(Arc<OnScreen>);

#[async_trait]
impl OtpCarrier for Held {
    fn channel(&self) -> OtpChannel {
        self.0.channel
    }

    async fn deliver(
        &self,
        message: &crate::otp::OtpMessage<'_>,
    ) -> Result<(), crate::otp::Undelivered> {
        self.0.deliver(message).await
    }

    async fn is_there(&self) -> bool {
        true
    }
}

impl World {
    async fn new() -> Self {
        let clock = Clock::default();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let now = clock.clone();
        let store =
            Store::open_with_clock(Arc::new(Memory::new()), vault, Arc::new(move || now.now()));
        let store = store.await.unwrap();
        let accounts = Accounts::new(AccountsParts {
            store: store.clone(),
            clock: clock.clone(),
            work: CpuPool::new("test").unwrap(),
            origin: "https://host.example/".parse().unwrap(),
            registration: Registration::Open,
        });
        accounts.register(EMAIL, PASSWORD.into()).await.unwrap();
        let screen = Arc::new(OnScreen {
            store: store.clone(),
            clock: clock.clone(),
            channel: OtpChannel::Email,
        });
        let carrier: Arc<dyn OtpCarrier> = Arc::new(Held(screen.clone()));
        let desk = OtpDesk::new(store.clone(), clock.clone(), vec![carrier]);
        let system = OwnAccounts {
            people: Arc::new(accounts),
            authenticators: Authenticators::new(desk.clone()),
            desk,
        };
        Self {
            system,
            screen,
            clock,
        }
    }

    async fn send(&self, to: &str) -> String {
        let order = OtpOrder {
            identifier: to.into(),
            channels: vec![OtpChannel::Email],
            locales: Vec::new(),
        };
        let sent = self.system.send_otp(&asking(), &order).await.unwrap();
        assert_eq!(sent.masked_email, Some(mask::email(to)));
        let shown = self.screen.shown("0123456789").await.unwrap();
        shown
            .map(|code| code.expose().to_owned())
            .unwrap_or_default()
    }

    async fn authenticate(
        &self,
        challenges: &[(FactorKind, &str)],
    ) -> Result<ProvenPerson, IdentityFault> {
        let challenge = |(factor, value): &(FactorKind, &str)| Challenge {
            factor: *factor,
            format: None,
            value: (*value).into(),
        };
        let attempt = SignInAttempt {
            identifier: " Maja@example.org ".into(),
            challenges: challenges.iter().map(challenge).collect(),
        };
        self.system.authenticate(&asking(), &attempt).await
    }

    async fn exchange(&self, proven: &ProvenPerson) -> Result<Map<String, Value>, IdentityFault> {
        let order = ClaimsOrder {
            handle: proven.handle.clone(),
            subject: "subject".to_owned(),
            token: proven.token.clone(),
            claims: ["email", "email_verified", "name"]
                .map(str::to_owned)
                .to_vec(),
            locales: Vec::new(),
        };
        match self.system.exchange(&asking(), &order).await? {
            PersonClaims::Plain(claims) => Ok(claims),
            PersonClaims::Signed(_) => panic!("signed"),
        }
    }
}

fn asking() -> AskingClient {
    AskingClient {
        tenant: TenantId::instance(),
        client_id: "client".to_owned(),
        relying_party: "party".to_owned(),
        transaction: "0123456789".to_owned(),
        from: Some(PersonsDevice {
            address: [192, 0, 2, 1].into(),
            known: None,
        }),
    }
}

fn code(refused: Result<ProvenPerson, IdentityFault>) -> String {
    refused.unwrap_err().code.unwrap_or_default()
}

#[tokio::test]
async fn a_person_signs_in_with_a_password_or_a_code_and_clients_get_their_claims() {
    let world = World::new().await;
    let by_password = world
        .authenticate(&[(FactorKind::Password, PASSWORD)])
        .await
        .unwrap();
    let claims = world.exchange(&by_password).await.unwrap();
    assert_eq!(
        claims,
        *serde_json::json!({"email": EMAIL, "email_verified": false})
            .as_object()
            .unwrap()
    );
    // The token is good for the clients of a whole session.
    assert_eq!(world.exchange(&by_password).await.unwrap(), claims);

    let sent = world.send(EMAIL).await;
    let by_code = world
        .authenticate(&[(FactorKind::Otp, &sent)])
        .await
        .unwrap();
    assert_eq!(by_code.handle, by_password.handle);
    assert_eq!(
        world.exchange(&by_code).await.unwrap()["email_verified"],
        true
    );
    let again = world.authenticate(&[(FactorKind::Otp, &sent)]).await;
    assert_eq!(code(again), "otp-used");
}

#[tokio::test]
async fn a_wrong_password_uses_up_no_code_and_a_second_factor_alone_proves_nobody() {
    let world = World::new().await;
    let sent = world.send(EMAIL).await;
    let both = |password| {
        [
            (FactorKind::Otp, sent.as_str()),
            (FactorKind::Password, password),
        ]
    };
    assert_eq!(
        code(world.authenticate(&both("wrong horse")).await),
        "sign-in-wrong"
    );
    let proven = world.authenticate(&both(PASSWORD)).await.unwrap();
    assert_eq!(proven.factors, [FactorKind::Otp, FactorKind::Password]);
    let alone = world.authenticate(&[(FactorKind::Totp, "123456")]).await;
    assert_eq!(alone.unwrap_err().kind, IdentityFaultKind::Unsupported);
}

#[tokio::test]
async fn an_address_without_an_account_is_answered_like_one_with_an_account() {
    let world = World::new().await;
    assert_eq!(world.send("nobody@example.org").await, "");
}

#[tokio::test]
async fn an_authenticator_app_is_wanted_once_it_is_confirmed_and_each_step_counts_once() {
    let world = World::new().await;
    let account = account_id(EMAIL);
    let apps = &world.system.authenticators;
    let secret = apps.enrol(&account).await.unwrap();
    let now = |world: &World| {
        let step = world.clock.now().0 / 30;
        secret.code(TotpHash::Sha1, step).expose().to_owned()
    };
    let password = (FactorKind::Password, PASSWORD);
    // Not confirmed yet: the password is enough.
    world.authenticate(&[password]).await.unwrap();
    let first = now(&world);
    apps.enter(&account, &first.clone().into(), None)
        .await
        .unwrap();
    assert!(apps.enrol(&account).await.is_err());
    assert_eq!(code(world.authenticate(&[password]).await), "totp-needed");
    let replayed = world
        .authenticate(&[password, (FactorKind::Totp, &first)])
        .await;
    assert_eq!(code(replayed), "totp-used");
    world.clock.advance(30);
    let next = now(&world);
    let challenges = [password, (FactorKind::Totp, next.as_str())];
    let (one, other) = tokio::join!(
        world.authenticate(&challenges),
        world.authenticate(&challenges)
    );
    assert_eq!(
        [one.is_ok(), other.is_ok()]
            .iter()
            .filter(|ok| **ok)
            .count(),
        1
    );
    apps.remove(&account).await.unwrap();
    world.authenticate(&[password]).await.unwrap();
}

#[tokio::test]
async fn while_the_mail_server_is_away_no_code_is_counted_and_a_password_still_works() {
    let world = World::new().await;
    // A port without a listener.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let settings = MailSettings {
        url: format!("smtp://127.0.0.1:{port}").parse().unwrap(),
        user: None,
        password: None,
        from: "no-reply@host.example".to_owned(),
        root: None,
    };
    let server = MailServer::new(&settings).unwrap();
    let carrier: Arc<dyn OtpCarrier> = Arc::new(MailCarrier { server });
    let store = world.system.desk.store().clone();
    let system = OwnAccounts {
        desk: OtpDesk::new(store, world.clock.clone(), vec![carrier]),
        ..world.system
    };
    for identifier in [EMAIL, "nobody@example.org"] {
        let order = OtpOrder {
            identifier: identifier.into(),
            channels: vec![OtpChannel::Email],
            locales: Vec::new(),
        };
        for _ in 0..20 {
            let refused = system.send_otp(&asking(), &order).await.unwrap_err();
            assert_eq!(refused.kind, IdentityFaultKind::Unavailable);
            assert_eq!(refused.code.as_deref(), Some("otp-carrier-away"));
        }
    }
    let world = World { system, ..world };
    let proven = world.authenticate(&[(FactorKind::Password, PASSWORD)]);
    proven.await.unwrap();
}
