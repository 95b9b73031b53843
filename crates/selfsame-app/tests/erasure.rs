//! The erasure of an organisation: what goes at once, what is kept for verifiers, and what is left in the end.

#[path = "support/config.rs"]
mod config;

use std::sync::{Arc, OnceLock};

use config::config;
use selfsame_accounts::Whence;
use selfsame_app::{Access, App, OrganisationRoles, Parts};
use selfsame_audit::AuditFilter;
use selfsame_core::organisation::view::{ErasureOrder, NewOrganisation, OrganisationState};
use selfsame_core::organisation::{OrganisationName, Urgency};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::{KeyType, PrivateKey, SecretString, jws};
use selfsame_driver::clock::Clock;
use selfsame_driver::paging::Paging;
use selfsame_driver::{ErrorKind, Result};
use selfsame_net::{Net, Settings};
use selfsame_openid::issuer::Issuer;
use selfsame_openid::issuer::lists::ListFace;
use selfsame_openid::view::issuer::{CredentialStatus, NewOffer};
use selfsame_operators::view::NewKey;
use selfsame_operators::{Acceptance, Area, Authority, OperatorRole};
use selfsame_store::{Memory, Store, TenantId, Vault};
use serde_json::{Value, json};
use url::Url;

const DAY: u64 = 86_400;
const OWNER: &str = "owner@acme.example";
/// Every kind of record that an organisation has here, and the store's own of its key.
const KINDS: [&str; 15] = [
    "key",
    "identity",
    "offer",
    "grant",
    "nonce",
    "issued",
    "withdrawn",
    "status_newest",
    "verification",
    "type-draft",
    "type",
    "types",
    "webhook_endpoint",
    "webhook_delivery",
    "selfsame.key",
];

/// The records of an instance, which processes open one after the other.
struct Machine {
    memory: Arc<Memory>,
    ahead: u64,
}

/// A process that has the records open.
struct Process {
    app: Arc<App>,
    store: Store,
}

impl Machine {
    fn new() -> Self {
        Self {
            memory: Arc::default(),
            ahead: 0,
        }
    }

    async fn open(&self) -> Process {
        let clock = Arc::new(OnceLock::<Clock>::new());
        let ticking = clock.clone();
        let now = move || ticking.get().cloned().unwrap_or_default().now();
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open_with_clock(self.memory.clone(), vault, Arc::new(now));
        let store = store.await.unwrap();
        let settings = Settings {
            native_roots: false,
            ..Settings::default()
        };
        let parts = Parts {
            store: store.clone(),
            net: Net::new(settings).unwrap(),
            ledger: None,
            hsm: None,
            book_index: None,
        };
        let (app, _) = App::open(config(), parts).await.unwrap();
        app.clock().advance(self.ahead);
        clock.set(app.clock().clone()).unwrap();
        Process { app, store }
    }
}

fn acme() -> OrganisationName {
    OrganisationName::parse("acme").unwrap()
}

fn order(now: bool) -> ErasureOrder {
    let confirm = "acme".to_owned();
    ErasureOrder { confirm, now }
}

impl Process {
    async fn roles(&self, access: Access) -> Result<Arc<OrganisationRoles>> {
        self.app.roles_of(&acme(), access).await
    }

    async fn state(&self) -> OrganisationState {
        let found = self.app.organisations().find(&acme()).await;
        found.unwrap().unwrap().record.state
    }

    async fn tenant(&self) -> TenantId {
        let found = self.app.organisations().find(&acme()).await;
        found.unwrap().unwrap().tenant().unwrap()
    }

    /// The kinds of which the organisation has records.
    async fn kinds(&self) -> Vec<&'static str> {
        let tenant = self.tenant().await;
        let mut kinds = Vec::new();
        for kind in KINDS {
            let weight = self.store.weight(&tenant, kind, 9).await.unwrap();
            kinds.extend((weight.records > 0).then_some(kind));
        }
        kinds
    }

    /// An organisation that has issued two credentials and revoked one, with a person, a key, a request and a type.
    async fn filled(&self) -> Kept {
        let new = NewOrganisation {
            name: "acme".to_owned(),
            title: "Acme Corporation".to_owned(),
            issuer: true,
            verifier: true,
            samples: true,
            host: None,
            did_method: Some("web".to_owned()),
        };
        self.app.create_organisation(&new).await.unwrap();
        let roles = self.roles(Access::Acting).await.unwrap();
        let issuer = roles.issuer().unwrap();
        self.issue(issuer).await;
        self.issue(issuer).await;
        let issued = issuer.issued(None, &Paging::default()).await.unwrap();
        let one = &issued.items[0].id;
        let revoked = issuer.set_status(one, CredentialStatus::Revoked).await;
        revoked.unwrap();
        let card = |id: &str| json!({"id": id, "title": {"en": "Card"}, "claims": [{"path": ["name"], "label": {"en": "Name"}, "kind": "text"}]});
        for id in ["card", "sketch"] {
            let definition = serde_json::from_value(card(id)).unwrap();
            issuer.types().create(&definition).await.unwrap();
        }
        self.app.publish_type(issuer, "card").await.unwrap();
        let request = serde_json::from_value(json!({"type": "immunization"})).unwrap();
        let hook = serde_json::from_value(json!({"url": "https://receiver.example/hook"})).unwrap();
        let owner = App::webhook_owner(&roles.organisation);
        self.app.webhooks().create(&owner, &hook).await.unwrap();
        roles
            .verifier()
            .unwrap()
            .create_request(&request)
            .await
            .unwrap();
        Kept {
            digest: issuer.lists().digest(0).unwrap(),
            did: roles.identity().unwrap().document().unwrap(),
            key: self.staffed().await,
        }
    }

    /// Appoints an owner; returns a key of a program.
    async fn staffed(&self) -> String {
        let (operators, token, acme) = (self.app.operators(), Authority::token(), acme());
        let invited = operators.invite(&token, &acme, &[OperatorRole::Owner]);
        let link = invited.await.unwrap().link;
        let form = Acceptance {
            token: link.split_once("token=").unwrap().1,
            email: OWNER,
            password: SecretString::new("a long password".to_owned()),
        };
        let whence = Whence::of([127, 0, 0, 1].into(), None);
        operators.accept(form, &whence).await.unwrap();
        let new = NewKey {
            name: "admissions".to_owned(),
            scopes: vec![Area::Issuer.write()],
            days: None,
        };
        let created = operators.create_key(&token, &acme, &new).await;
        created.unwrap().key
    }

    async fn issue(&self, issuer: &Issuer) {
        let new: NewOffer =
            serde_json::from_value(json!({"type": "immunization", "examples": true})).unwrap();
        let offer = issuer.create_offer(&new).await.unwrap();
        let link = Url::parse(&offer.uri).unwrap();
        let (_, offer) = link.query_pairs().next().unwrap();
        let offer: Value = serde_json::from_str(&offer).unwrap();
        let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
        let code = offer["grants"][grant]["pre-authorized_code"]
            .as_str()
            .unwrap();
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("grant_type", grant), ("pre-authorized_code", code)])
            .finish();
        let token = issuer.token(form.as_bytes()).await.unwrap();
        let holder = PrivateKey::generate(KeyType::P256).unwrap();
        let jwk = holder.public().to_jwk().to_value();
        let now = self.app.clock().now().0;
        let nonce = issuer.nonce().c_nonce;
        let proof = jws::Unsigned::new(
            &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": jwk}),
            &json!({"aud": offer["credential_issuer"], "iat": now, "nonce": nonce}),
        );
        let signature = holder.sign(proof.signing_input()).unwrap();
        let body = json!({
            "credential_configuration_id": offer["credential_configuration_ids"][0],
            "proofs": {"jwt": [proof.finish(&signature)]},
        });
        let (token, body) = (token.access_token.expose(), body.to_string());
        issuer.credential(token, body.as_bytes()).await.unwrap();
    }
}

/// What verifiers see of an organisation, and a key that opened it.
struct Kept {
    digest: [u8; 32],
    did: Value,
    key: String,
}

impl Kept {
    async fn is_served_by(&self, process: &Process) {
        let roles = process.roles(Access::Reading).await.unwrap();
        let issuer = roles.publisher().unwrap();
        assert_eq!(issuer.lists().digest(0).unwrap(), self.digest);
        issuer.lists().serve(0, ListFace::Token).await.unwrap();
        assert_eq!(roles.identity().unwrap().document().unwrap(), self.did);
        assert!(issuer.types().all().await.unwrap().at("card", 1).is_some());
    }
}

async fn is_gone<T>(outcome: Result<T>) {
    let refused = outcome.err().map(|error| error.kind);
    assert_eq!(refused, Some(ErrorKind::Gone));
}

#[tokio::test]
async fn of_an_erased_organisation_only_what_verifiers_need_is_left_for_a_time() {
    let mut machine = Machine::new();
    let process = machine.open().await;
    let kept = process.filled().await;
    let forecast = process.app.erasure_forecast(&acme()).await.unwrap();
    assert_eq!((forecast.valid_credentials, forecast.and_more), (1, false));
    process
        .app
        .erase_organisation(&acme(), &order(false))
        .await
        .unwrap();
    is_gone(process.roles(Access::Acting).await).await;
    drop(process);

    // A process that ends right after the order loses nothing of it.
    let process = machine.open().await;
    assert_eq!(process.state().await, OrganisationState::Erasing);
    kept.is_served_by(&process).await;
    process.app.keep_erasing(Urgency::Now).await;
    assert_eq!(process.state().await, OrganisationState::Erased);
    let left = [
        "key",
        "identity",
        "withdrawn",
        "status_newest",
        "type",
        "types",
        "selfsame.key",
    ];
    assert_eq!(process.kinds().await, left);
    kept.is_served_by(&process).await;
    let operators = process.app.operators();
    assert!(operators.of_key(&kept.key).await.unwrap().is_none());
    let people = operators.people(&acme(), &Paging::default()).await.unwrap();
    assert!(people.items.is_empty());
    assert!(!operators.accounts().has(OWNER).await.unwrap());
    drop(process);

    machine.ahead = 89 * DAY;
    let process = machine.open().await;
    process.app.keep_erasing(Urgency::Later).await;
    kept.is_served_by(&process).await;
}

#[tokio::test]
async fn after_its_time_nothing_of_an_erased_organisation_is_left_but_its_name() {
    let mut machine = Machine::new();
    let process = machine.open().await;
    process.filled().await;
    process
        .app
        .erase_organisation(&acme(), &order(false))
        .await
        .unwrap();
    process.app.keep_erasing(Urgency::Now).await;
    drop(process);

    machine.ahead = 91 * DAY;
    let process = machine.open().await;
    is_gone(process.roles(Access::Reading).await).await;
    process.app.keep_erasing(Urgency::Later).await;
    drop(process);
    // The clock of the next process is behind, and the first portion of the destruction was lost with the former one.
    machine.ahead = 0;
    let process = machine.open().await;
    is_gone(process.roles(Access::Reading).await).await;
    let tenant = process.tenant().await;
    process.store.destroy(&tenant, 1).await.unwrap();
    drop(process);
    let process = machine.open().await;
    is_gone(process.roles(Access::Reading).await).await;
    process.app.keep_erasing(Urgency::Now).await;
    assert_eq!(process.kinds().await, Vec::<&str>::new());

    let hosted = process
        .app
        .organisations()
        .find(&acme())
        .await
        .unwrap()
        .unwrap();
    let view = process.app.organisations().view(&hosted).unwrap();
    assert!(view.erasure.unwrap().over && view.title == "acme");
    let new: NewOrganisation =
        serde_json::from_value(json!({"name": "ac-me", "title": "Ac Me"})).unwrap();
    let taken = process.app.create_organisation(&new).await.unwrap_err();
    assert_eq!(taken.reason.id(), "organisation-name-taken");
    let trail = process.app.trail();
    let all = trail
        .list(&OrganisationName::main(), &AuditFilter::default())
        .await
        .unwrap();
    let acts = all
        .items
        .iter()
        .filter(|entry| entry.actor.kind == "instance");
    let acts: Vec<_> = acts
        .map(|entry| entry.act.split(' ').next().unwrap())
        .collect();
    assert_eq!(acts, ["DESTROY", "CLOSE", "ERASE"]);
}

#[tokio::test]
async fn an_erasure_needs_the_name_typed_again_and_can_be_hastened_but_not_undone() {
    let process = Machine::new().open().await;
    process.filled().await;
    let wrong = ErasureOrder {
        confirm: "main".to_owned(),
        now: false,
    };
    let refused = process.app.erase_organisation(&acme(), &wrong).await;
    assert_eq!(
        refused.unwrap_err().reason.id(),
        "organisation-name-not-typed"
    );
    let main = OrganisationName::main();
    let main = process.app.erase_organisation(&main, &wrong);
    assert_eq!(
        main.await.unwrap_err().reason.id(),
        "organisation-main-not-erased"
    );
    process
        .app
        .erase_organisation(&acme(), &order(false))
        .await
        .unwrap();
    let again = process.app.erase_organisation(&acme(), &order(false)).await;
    assert_eq!(again.unwrap_err().kind, ErrorKind::Conflict);
    let undone = json!({"state": "active"});
    let undone = serde_json::from_value(undone).unwrap();
    is_gone(process.app.organisations().change(&acme(), &undone).await).await;

    process
        .app
        .erase_organisation(&acme(), &order(true))
        .await
        .unwrap();
    is_gone(process.roles(Access::Reading).await).await;
    for urgency in [Urgency::Now, Urgency::Later, Urgency::Now] {
        process.app.keep_erasing(urgency).await;
    }
    assert_eq!(process.kinds().await, Vec::<&str>::new());
    let over = process.app.erase_organisation(&acme(), &order(true)).await;
    assert_eq!(over.unwrap_err().kind, ErrorKind::Conflict);
}

#[tokio::test]
async fn a_change_does_not_erase() {
    let process = Machine::new().open().await;
    process.filled().await;
    for state in ["erasing", "erased"] {
        let change = serde_json::from_value(json!({ "state": state })).unwrap();
        let refused = process.app.organisations().change(&acme(), &change).await;
        assert_eq!(
            refused.unwrap_err().reason.id(),
            "organisation-state-by-erasure"
        );
    }
}
