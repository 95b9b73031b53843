//! Sign-in with a credential, on a verifier whose answers the test sets.

use std::collections::HashMap;
use std::sync::Mutex;

use selfsame_crypto::seal::SealingKey;
use selfsame_sign_in::identity::Challenge;
use selfsame_store::{Memory, Vault};
use serde_json::json;

use super::*;

const ISSUER: &str = "did:web:library.example";

/// A verifier that answers what the test says.
#[derive(Default)]
struct Desk {
    opened: Mutex<Vec<AnswerPlace>>,
    answers: Mutex<HashMap<String, PresentationAnswer>>,
}

impl Desk {
    fn set(&self, id: &str, answer: PresentationAnswer) {
        self.answers.lock().unwrap().insert(id.to_owned(), answer);
    }

    fn opened(&self) -> usize {
        self.opened.lock().unwrap().len()
    }
}

#[async_trait]
impl PresentationDesk for Desk {
    async fn check(&self, _: &TenantId, _: &WantedPresentation) -> Result<()> {
        Ok(())
    }

    async fn open(
        &self,
        _: &TenantId,
        _: &WantedPresentation,
        place: &AnswerPlace,
    ) -> Result<OpenedPresentation> {
        let mut opened = self.opened.lock().unwrap();
        opened.push(place.clone());
        let id = format!("p{}", opened.len());
        self.set(&id, PresentationAnswer::Awaited);
        let uri = format!("openid4vp://?id={id}");
        Ok(OpenedPresentation { id, uri })
    }

    async fn answer(&self, _: &TenantId, id: &str) -> Result<PresentationAnswer> {
        let answers = self.answers.lock().unwrap();
        let answer = answers.get(id).cloned();
        answer.ok_or_else(|| Error::not_found("request-unknown"))
    }

    async fn returned(
        &self,
        tenant: &TenantId,
        browser: &ReturnedBrowser<'_>,
    ) -> Result<PresentationAnswer> {
        let same = |place: &AnswerPlace| {
            place.is_here && place.browser.expose() == browser.browser.expose()
        };
        let is_known = self.opened.lock().unwrap().iter().any(same);
        match is_known && browser.code == "code" {
            true => self.answer(tenant, browser.id).await,
            false => Err(Error::new(ErrorKind::Forbidden, "result-of-other-browser")),
        }
    }
}

struct World {
    system: Presentations,
    desk: Arc<Desk>,
}

fn rules() -> PresentationRules {
    let rules = json!({
        "purpose": "To sign you in",
        "credentials": [
            {"title": "Library card", "type": "urn:library:card", "issuers": [ISSUER],
             "subject": ["number"], "claims": {"name": ["holder", "name"], "locale": ["lang"], "email": ["mail"]},
             "optional": ["locale", "email"]},
            {"title": "Student card", "type": "Student", "format": "jwt_vc_json",
             "issuers": ["did:web:a.example", "did:web:b.example"],
             "subject": ["credentialSubject", "number"]}
        ]
    });
    serde_json::from_value(rules).unwrap()
}

fn shown(query: &str, issuer: Option<&str>, claims: Value) -> ShownCredential {
    ShownCredential {
        query: query.to_owned(),
        issuer: issuer.map(str::to_owned),
        claims,
    }
}

fn card(number: &str) -> PresentationAnswer {
    let claims = json!({"number": number, "holder": {"name": "Maja"}, "more": 1});
    PresentationAnswer::Shown(Box::new(shown("c0", Some(ISSUER), claims)))
}

fn tenant() -> TenantId {
    TenantId::parse("issuer").unwrap()
}

fn asking(transaction: &str) -> AskingClient {
    AskingClient {
        tenant: tenant(),
        client_id: "client".to_owned(),
        relying_party: "party".to_owned(),
        transaction: transaction.to_owned(),
        from: None,
    }
}

fn challenge(id: &str, code: Option<&str>) -> SecretString {
    let given = PresentedChallenge {
        id: id.to_owned(),
        code: code.map(str::to_owned),
    };
    given.value()
}

fn refused_with(result: PresentationResult<ProvenPerson>) -> IdentityFaultKind {
    result.unwrap_err().kind
}

impl World {
    async fn new() -> Self {
        let world = Self::without_rules().await;
        world.system.set_rules(&tenant(), &rules()).await.unwrap();
        world
    }

    async fn without_rules() -> Self {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        let desk = Arc::new(Desk::default());
        let system = Presentations::new(desk.clone(), store, Clock::default());
        Self { system, desk }
    }

    /// Another process on the same records.
    fn replica(&self) -> Self {
        let system = &self.system;
        let (store, clock) = (system.store.clone(), system.clock.clone());
        Self {
            system: Presentations::new(self.desk.clone(), store, clock),
            desk: self.desk.clone(),
        }
    }

    async fn ask(&self, transaction: &str) -> PresentationResult<AskedPresentation> {
        let order = ElsewhereOrder {
            factor: FactorKind::Presentation,
            page: "sign-in/1/wallet".to_owned(),
            address: "https://id.example/sign-in/1/wallet".parse().unwrap(),
        };
        match self.system.ask(&asking(transaction), &order).await? {
            AskedElsewhere::Presentation(asked) => Ok(asked),
            other => panic!("{other:?}"),
        }
    }

    async fn prove(
        &self,
        transaction: &str,
        value: SecretString,
    ) -> PresentationResult<ProvenPerson> {
        let attempt = SignInAttempt {
            identifier: "".into(),
            challenges: vec![Challenge {
                factor: FactorKind::Presentation,
                format: None,
                value,
            }],
        };
        let asking = asking(transaction);
        self.system.authenticate(&asking, &attempt).await
    }
}

#[tokio::test]
async fn a_person_who_shows_a_card_on_another_device_signs_in_once() {
    let world = World::new().await;
    let asked = world.ask("one").await.unwrap();
    assert_eq!(asked.credentials, ["Library card", "Student card"]);
    assert!(!asked.is_answered && asked.elsewhere.is_some());
    // The page that is loaded again, at another process, shows the same.
    assert_eq!(world.replica().ask("one").await.unwrap(), asked);
    assert_eq!(world.desk.opened(), 2);
    world.desk.set(&asked.id, card("17"));
    assert!(world.ask("one").await.unwrap().is_answered);
    let given = || challenge(&asked.id, None);
    let person = world.replica().prove("one", given()).await.unwrap();
    assert_eq!(person.factors, [FactorKind::Presentation]);
    let again = refused_with(world.prove("one", given()).await);
    assert_eq!(again, IdentityFaultKind::WrongChallenge);
    let order = ClaimsOrder {
        handle: person.handle.clone(),
        subject: "subject".to_owned(),
        token: person.token,
        claims: vec!["name".to_owned(), "email".to_owned()],
        locales: Vec::new(),
    };
    let claims = world.system.exchange(&asking("one"), &order).await.unwrap();
    let PersonClaims::Plain(claims) = claims else {
        panic!("the claims are signed")
    };
    assert_eq!(Value::Object(claims), json!({"name": "Maja"}));
}

#[tokio::test]
async fn on_one_device_the_wallet_must_send_the_browser_back() {
    let world = World::new().await;
    let asked = world.ask("one").await.unwrap();
    let id = asked.here.split('=').next_back().unwrap().to_owned();
    world.desk.set(&id, card("17"));
    assert!(!world.ask("one").await.unwrap().is_answered);
    for code in [None, Some("another code")] {
        let given = challenge(&id, code);
        let refused = refused_with(world.prove("one", given).await);
        assert_eq!(refused, IdentityFaultKind::WrongChallenge, "{code:?}");
    }
    let given = challenge(&id, Some("code"));
    world.prove("one", given).await.unwrap();
}

#[tokio::test]
async fn an_answer_to_another_sign_in_is_none_to_this_one() {
    let world = World::new().await;
    let other = world.ask("other").await.unwrap();
    world.desk.set(&other.id, card("17"));
    let own = world.ask("own").await.unwrap();
    let given = || challenge(&other.id, None);
    let refused = refused_with(world.prove("own", given()).await);
    assert_eq!(refused, IdentityFaultKind::WrongChallenge);
    // Neither is used up by that.
    assert_eq!(world.ask("own").await.unwrap(), own);
    world.prove("other", given()).await.unwrap();
}

#[tokio::test]
async fn of_two_processes_that_redeem_one_answer_at_once_one_succeeds() {
    let world = World::new().await;
    let asked = world.ask("one").await.unwrap();
    world.desk.set(&asked.id, card("17"));
    let other = world.replica();
    let given = || challenge(&asked.id, None);
    let (one, other) = tokio::join!(world.prove("one", given()), other.prove("one", given()));
    assert!(one.is_ok() != other.is_ok());
}

#[tokio::test]
async fn after_a_refused_answer_the_wallet_is_asked_anew_ten_times_at_most() {
    let world = World::new().await;
    for _ in 0..ASKED_MAX {
        let asked = world.ask("one").await.unwrap();
        world.desk.set(&asked.id, PresentationAnswer::Refused);
        assert!(world.ask("one").await.unwrap().is_answered);
        let given = challenge(&asked.id, None);
        let refused = refused_with(world.prove("one", given).await);
        assert_eq!(refused, IdentityFaultKind::WrongChallenge);
    }
    let blocked = world.ask("one").await.unwrap_err();
    let expected = IdentityFaultKind::Blocked { retry_after: LATER };
    assert_eq!(blocked.kind, expected);
}

#[tokio::test]
async fn what_is_over_is_asked_anew() {
    let world = World::new().await;
    let asked = world.ask("one").await.unwrap();
    world.desk.set(&asked.id, PresentationAnswer::Over);
    let anew = world.ask("one").await.unwrap();
    assert_ne!(anew.id, asked.id);
    world.desk.answers.lock().unwrap().clear();
    assert_ne!(world.ask("one").await.unwrap().id, anew.id);
}

#[tokio::test]
async fn an_organisation_without_rules_has_no_sign_in_with_credentials() {
    let world = World::without_rules().await;
    let factors = world.system.factors_at(&tenant()).await.unwrap();
    assert!(factors.is_empty());
    let refused = world.ask("one").await.unwrap_err();
    assert_eq!(refused.kind, IdentityFaultKind::Unsupported);
    world.system.set_rules(&tenant(), &rules()).await.unwrap();
    let factors = world.system.factors_at(&tenant()).await.unwrap();
    assert_eq!(factors, [FactorKind::Presentation]);
    let other = TenantId::parse("o-1").unwrap();
    assert!(world.system.factors_at(&other).await.unwrap().is_empty());
    world.system.remove(&tenant()).await.unwrap();
    assert_eq!(world.system.rules(&tenant()).await, Ok(None));
}

#[tokio::test]
async fn rules_without_a_second_device_offer_none() {
    let world = World::without_rules().await;
    let mut alone = rules();
    alone.other_device = false;
    world.system.set_rules(&tenant(), &alone).await.unwrap();
    let asked = world.ask("one").await.unwrap();
    assert_eq!(asked.elsewhere, None);
    world.desk.set(&asked.id, card("17"));
    assert!(!world.ask("one").await.unwrap().is_answered);
    let given = challenge(&asked.id, None);
    let refused = refused_with(world.prove("one", given).await);
    assert_eq!(refused, IdentityFaultKind::WrongChallenge);
}

#[test]
fn a_person_is_told_apart_by_issuer_type_and_number() {
    let rules = rules();
    let handle = |query: &str, issuer: &str, claims: Value| {
        let person = rules.person(&shown(query, Some(issuer), claims));
        person.unwrap().handle
    };
    let one = handle("c0", ISSUER, json!({"number": "17"}));
    assert_eq!(
        one,
        handle("c0", ISSUER, json!({"number": 17, "name": "x"}))
    );
    assert_ne!(one, handle("c0", ISSUER, json!({"number": "18"})));
    let student = json!({"credentialSubject": {"number": "17"}});
    assert_ne!(one, handle("c1", ISSUER, student.clone()));
    let [a, b] = ["did:web:a.example", "did:web:b.example"];
    assert_ne!(handle("c1", a, student.clone()), handle("c1", b, student));
}

#[test]
fn a_credential_that_names_nobody_is_no_sign_in() {
    let rules = rules();
    let of = |query: &str, issuer: Option<&str>, claims: Value| {
        rules.person(&shown(query, issuer, claims))
    };
    let long = "1".repeat(513);
    for number in [
        json!(""),
        json!(1.5),
        json!(["17"]),
        json!(null),
        json!(long),
    ] {
        assert_eq!(of("c0", Some(ISSUER), json!({"number": number})), None);
    }
    assert_eq!(of("c0", Some(ISSUER), json!({})), None);
    assert_eq!(of("c7", Some(ISSUER), json!({"number": "17"})), None);
    // A certificate's name stands for an issuer only if it is the only one.
    assert!(of("c0", None, json!({"number": "17"})).is_some());
    let student = json!({"credentialSubject": {"number": "17"}});
    assert_eq!(of("c1", None, student), None);
}

#[tokio::test]
async fn rules_that_mean_nothing_are_refused() {
    let world = World::without_rules().await;
    let changed = |change: &dyn Fn(&mut PresentationRules)| {
        let mut rules = rules();
        change(&mut rules);
        rules
    };
    let cases: [(&str, PresentationRules); 8] = [
        (
            "sign-in-wallet-credentials",
            changed(&|rules| rules.credentials.clear()),
        ),
        (
            "sign-in-wallet-type-twice",
            changed(&|rules| rules.credentials[1].kind = "urn:library:card".to_owned()),
        ),
        (
            "sign-in-wallet-title",
            changed(&|rules| rules.credentials[0].title = " ".to_owned()),
        ),
        (
            "sign-in-wallet-path",
            changed(&|rules| rules.credentials[0].subject.clear()),
        ),
        (
            "sign-in-wallet-claim-name",
            changed(&|rules| {
                let claims = &mut rules.credentials[0].claims;
                claims.insert("sub".to_owned(), vec!["number".to_owned()]);
            }),
        ),
        (
            "sign-in-wallet-claim-name",
            changed(&|rules| {
                let claims = &mut rules.credentials[0].claims;
                claims.insert("two words".to_owned(), vec!["number".to_owned()]);
            }),
        ),
        (
            "sign-in-wallet-claims",
            changed(&|rules| {
                let optional = &mut rules.credentials[0].optional;
                optional.insert("phone".to_owned());
            }),
        ),
        (
            "sign-in-wallet-claims",
            changed(&|rules| {
                let claims = (0..65).map(|n| (format!("c{n}"), vec!["number".to_owned()]));
                rules.credentials[0].claims = claims.collect();
            }),
        ),
    ];
    for (reason, rules) in cases {
        let refused = world.system.set_rules(&tenant(), &rules).await;
        assert_eq!(refused.unwrap_err().reason.id(), reason);
    }
}

#[test]
fn one_of_the_credentials_is_asked_for_with_or_without_what_is_optional() {
    let wanted = rules().wanted();
    assert_eq!(wanted.purpose, "To sign you in");
    let [card, student] = &wanted.credentials[..] else {
        panic!("{:?}", wanted.credentials)
    };
    let path = |path: &[&str]| path.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let paths = [
        path(&["holder", "name"]),
        path(&["lang"]),
        path(&["mail"]),
        path(&["number"]),
    ];
    assert_eq!(card.paths, paths);
    let choices = [vec![0, 1, 2, 3], vec![0, 2, 3], vec![0, 1, 3], vec![0, 3]];
    assert_eq!(card.choices, choices);
    assert_eq!((card.id.as_str(), &card.format), ("c0", &None));
    assert_eq!(card.issuers, [ISSUER]);
    assert_eq!(student.paths, [path(&["credentialSubject", "number"])]);
    assert_eq!(student.choices, [[0]]);
    assert_eq!(student.format.as_deref(), Some("jwt_vc_json"));
}
