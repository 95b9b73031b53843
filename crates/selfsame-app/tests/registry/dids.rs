//! The instance's own DIDs: each method, each change, and the effect of a broken registry.

use std::sync::Arc;
use std::time::Duration;

use selfsame_app::config::{Config, Roles};
use selfsame_app::{App, Parts};
use selfsame_core::config::{ResolverConfig, TrustConfig};
use selfsame_core::newcomer::{Consent, Newcomer};
use selfsame_core::view::{InstanceDid, NewDid};
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey};
use selfsame_did::{Did, Options};
use selfsame_driver::keys::Keys;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, ErrorKind};
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_registry::network::Agreement;
use selfsame_registry::{Genesis, Identifier, Operation, UnsignedTransaction};
use selfsame_store::TenantId;
use selfsame_store::ledger::LedgerStore;
use selfsame_wallet::config::WalletConfig;

use crate::world::World;

async fn all(app: &App) -> Vec<InstanceDid> {
    app.dids().list(&Paging::default()).await.unwrap().items
}

pub async fn app(world: &World, roles: Roles) -> Arc<App> {
    opened(world, roles, world.ledger.clone()).await.unwrap()
}

/// Opens an instance with a ledger that may be another one.
pub async fn opened(
    world: &World,
    roles: Roles,
    ledger: Arc<dyn LedgerStore>,
) -> Result<Arc<App>, Error> {
    let parts = Parts {
        store: world.store.clone(),
        net: Net::new(Settings::default()).unwrap(),
        ledger: Some(ledger),
        hsm: None,
        book_index: None,
    };
    Ok(App::open(config(roles), parts).await?.0)
}

/// The settings of an instance with an embedded registry.
pub fn config(roles: Roles) -> Config {
    Config {
        origin: "http://localhost:7380/".parse().unwrap(),
        roles,
        issuer: IssuerConfig::default(),
        verifier: VerifierConfig::default(),
        wallet: WalletConfig::default(),
        trust: TrustConfig::default(),
        registry: RegistryConfig::Embedded {
            name: "test".to_owned(),
            witnesses: Vec::new(),
        },
        resolver: ResolverConfig::default(),
        organisations: selfsame_core::config::OrganisationsConfig::default(),
        agents: Vec::new(),
    }
}

pub const REGISTRY: Roles = Roles {
    issuer: false,
    wallet: false,
    verifier: false,
    registry: true,
};

pub fn new(method: &str) -> NewDid {
    NewDid {
        method: method.to_owned(),
        kind: None,
    }
}

fn methods(did: &InstanceDid) -> usize {
    did.document["verificationMethod"]
        .as_array()
        .map_or(0, Vec::len)
}

#[tokio::test]
async fn a_did_of_the_registry_is_made_rotated_and_deactivated() {
    for world in World::all().await {
        let app = app(&world, REGISTRY).await;
        let made = app.dids().create(&new("selfsame")).await.unwrap();
        assert_eq!((made.state.as_str(), methods(&made)), ("active", 1));
        let rotated = app.dids().rotate(&made.did).await.unwrap();
        assert_ne!(rotated.key, made.key);
        assert_eq!(
            rotated.document["authentication"].as_array().unwrap().len(),
            1
        );
        // The former key still verifies its old signatures.
        assert_eq!(
            rotated.document["assertionMethod"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
        app.dids().rotate(&made.did).await.unwrap();
        let ended = app.dids().deactivate(&made.did).await.unwrap();
        assert_eq!(ended.state, "deactivated");
        assert!(ended.document.is_null());
        assert_eq!(
            app.dids().rotate(&made.did).await.unwrap_err().kind,
            ErrorKind::Gone
        );
        let listed = all(&app).await;
        assert_eq!((listed.len(), listed[0].state.as_str()), (1, "deactivated"));
        let status = app.status().await.unwrap();
        assert_eq!((status.outbox_waiting, status.outbox_dead), (0, 0));
        let did = Did::parse(&made.did).unwrap();
        assert_eq!(
            app.registry().unwrap().history(&did).await.unwrap().len(),
            4
        );
    }
}

#[tokio::test]
async fn a_hosted_did_keeps_its_former_key_until_it_is_gone() {
    let world = World::memory().await;
    let app = app(&world, REGISTRY).await;
    let made = app.dids().create(&new("web")).await.unwrap();
    let path = made
        .did
        .strip_prefix("did:web:localhost%3A7380:")
        .unwrap()
        .replace(':', "/");
    assert_eq!(app.dids().document(&path).await.unwrap(), made.document);
    let rotated = app.dids().rotate(&made.did).await.unwrap();
    assert_eq!(app.dids().document(&path).await.unwrap(), rotated.document);
    assert_eq!(
        rotated.document["assertionMethod"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        rotated.document["authentication"].as_array().unwrap().len(),
        1
    );
    app.dids().deactivate(&made.did).await.unwrap();
    assert_eq!(
        app.dids().document(&path).await.unwrap_err().kind,
        ErrorKind::Gone
    );
    assert_eq!(
        app.dids().document("dids/other").await.unwrap_err().kind,
        ErrorKind::NotFound
    );
    assert_eq!(
        app.dids().document("../x").await.unwrap_err().kind,
        ErrorKind::NotFound
    );
}

#[tokio::test]
async fn a_did_that_is_its_key_is_made_and_never_changed() {
    let world = World::memory().await;
    let app = app(&world, REGISTRY).await;
    for method in ["key", "jwk"] {
        let ed25519 = NewDid {
            method: method.to_owned(),
            kind: Some("Ed25519".to_owned()),
        };
        let made = app.dids().create(&ed25519).await.unwrap();
        assert!(made.did.starts_with(&format!("did:{method}:")) && methods(&made) == 1);
        assert_eq!(
            app.dids().rotate(&made.did).await.unwrap_err().kind,
            ErrorKind::BadRequest
        );
        assert_eq!(
            app.dids().deactivate(&made.did).await.unwrap_err().kind,
            ErrorKind::BadRequest
        );
    }
    assert_eq!(
        app.dids().create(&new("example")).await.unwrap_err().kind,
        ErrorKind::BadRequest
    );
    let unknown = app.dids().rotate("did:web:example.org").await.unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn a_full_ledger_is_told_and_once_there_is_room_it_goes_on() {
    for world in World::all().await {
        let app = app(&world, REGISTRY).await;
        assert!(app.has_room().await);
        world.ledger.fill();
        let error = app.dids().create(&new("selfsame")).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Full);
        assert!(!app.has_room().await);
        // A refused change is not lost.
        assert_eq!(all(&app).await[0].state, "pending");
        world.ledger.work();
        app.dids().create(&new("selfsame")).await.unwrap();
        assert!(app.has_room().await);
        app.stop().await;
    }
}

#[tokio::test]
async fn what_a_broken_registry_did_not_take_is_sent_again_by_the_outbox() {
    for world in World::all().await {
        let app = app(&world, REGISTRY).await;
        world.ledger.lose();
        let error = app.dids().create(&new("selfsame")).await.unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Unavailable { .. }));
        let listed = all(&app).await;
        assert_eq!((listed.len(), listed[0].state.as_str()), (1, "pending"));
        world.ledger.work();
        app.start().await.unwrap();
        // For a minute at most.
        for _ in 0..1_200 {
            if all(&app).await[0].state == "active" {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let listed = all(&app).await;
        assert_eq!(
            (listed[0].state.as_str(), methods(&listed[0])),
            ("active", 1)
        );
        assert_eq!(app.status().await.unwrap().outbox_waiting, 0);
        app.stop().await;
    }
}

#[tokio::test]
async fn a_change_finishes_the_one_that_was_cut_off() {
    for world in World::all().await {
        let app = app(&world, REGISTRY).await;
        let made = app.dids().create(&new("selfsame")).await.unwrap();
        // The registry has the change, but the instance does not know it.
        world.ledger.lose_answers();
        app.dids().rotate(&made.did).await.unwrap_err();
        world.ledger.work();
        let rotated = app.dids().rotate(&made.did).await.unwrap();
        assert_eq!(
            rotated.document["assertionMethod"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
        let did = Did::parse(&made.did).unwrap();
        assert_eq!(
            app.registry().unwrap().history(&did).await.unwrap().len(),
            3
        );
    }
}

#[tokio::test]
async fn the_issuer_and_the_verifier_are_registered_once() {
    let world = World::sqlite().await;
    let roles = Roles {
        issuer: true,
        wallet: false,
        verifier: true,
        registry: true,
    };
    for _ in 0..2 {
        let app = app(&world, roles).await;
        app.start().await.unwrap();
        let registry = app.registry().unwrap();
        assert_eq!(registry.status().await.unwrap().transactions, 2);
        let did = Did::parse(&app.status().await.unwrap().did.unwrap()).unwrap();
        let resolution = registry.resolve(&did, &Options::default()).await;
        assert!(resolution.document.is_some());
        app.stop().await;
    }
}

#[tokio::test]
async fn a_newcomer_is_registered_under_an_author_agreement_only_if_it_was_accepted() {
    let world = World::memory().await;
    let app = app(&world, REGISTRY).await;
    let registry = app.registry().unwrap();
    let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
    let trustee = genesis.members()[0].key.clone();
    let agreement = Agreement {
        version: "2".to_owned(),
        digest: [7; 32],
        mechanisms: vec!["for_session".to_owned()],
    };
    let network = registry.network().await.unwrap();
    let author = Identifier::of_key(&trustee).unwrap();
    let operation = Operation::SetAgreement(Some(agreement));
    let unsigned = UnsignedTransaction::new(&network, author, 1, operation);
    let tenant = TenantId::parse("registry").unwrap();
    let handle = KeyHandle::of(&trustee);
    let keys = Keys::new(world.store.clone());
    let signature = keys.sign(&tenant, &handle, unsigned.signing_bytes()).await;
    let signed = unsigned.signed("key-1", &signature.unwrap()).unwrap();
    registry.submit(&signed).await.unwrap();

    let in_force = app.agreement_in_force().unwrap().unwrap();
    assert_eq!(
        (in_force.version.as_str(), in_force.digest),
        ("2", "07".repeat(32))
    );
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let register = async |accepts| {
        let newcomer = Newcomer {
            key: key.public(),
            consent: Consent::None,
            did: None,
            role: None,
            accepts,
        };
        app.register_newcomer(&newcomer).await
    };
    let refused = register(None).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Forbidden);
    assert!(refused.to_string().contains("agreement"), "{refused}");
    let other = register(Some("1")).await.unwrap_err();
    assert_eq!(other.kind, ErrorKind::Conflict);
    let made = register(Some("2")).await.unwrap();
    assert!(!made.existed);
    let entry = registry.history(&made.did).await.unwrap().remove(0);
    assert_eq!(entry.content["accepted_agreement"]["version"], "2");
}
