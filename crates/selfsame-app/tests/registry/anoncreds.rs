//! Types in the format AnonCreds: what the registry has of them, and what a crash leaves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::{
    CredentialDefinition, CredentialDefinitionId, CredentialDefinitionPrivate, Message as _,
    PresentationRequest, Schema, SchemaId,
};
use selfsame_anoncreds::holder::create_link_secret;
use selfsame_anoncreds::issuer::{self as anoncreds, Issuance, create_offer};
use selfsame_anoncreds::verifier::Encoding;
use selfsame_anoncreds_roles::answer::{AnswerDraft, HoldersChoice};
use selfsame_anoncreds_roles::holder::{Awaited, Requester, accept, request};
use selfsame_anoncreds_roles::issuer::{issue, values_of};
use selfsame_anoncreds_roles::verifier::{Leniency, verify};
use selfsame_anoncreds_roles::{HeldCredential, PublishedObjects};
use selfsame_app::config::Roles;
use selfsame_app::{Access, App, Parts};
use selfsame_core::config::DidMethod;
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::view::ErasureOrder;
use selfsame_ledger::browse::state_key;
use selfsame_ledger::config::RegistryConfig;
use selfsame_net::{Net, Settings};
use selfsame_openid::issuer::Issuer;
use selfsame_proof::cbor::CborItem;
use selfsame_registry::Operation;
use selfsame_registry::anoncreds::{PublishedDefinition, PublishedSchema};
use selfsame_store::ledger::LedgerStore as _;
use selfsame_store::{Batch, Store};
use selfsame_types::model::{AnonCredsObjects, PublishingState};
use selfsame_types::{TypeDefinition, TypeSummary};
use serde_json::{Value, json};

use crate::dids::{app, config};
use crate::world::World;

const ISSUER: Roles = Roles {
    issuer: true,
    wallet: false,
    verifier: false,
    registry: true,
};

/// The kinds of the records of a publication.
const KINDS: [&str; 3] = [
    "anoncreds_publication",
    "anoncreds_definition",
    "anoncreds_private_key",
];

fn donor(revocable: bool) -> TypeDefinition {
    let file = json!({
        "id": "donor",
        "title": {"en": "Blood donor"},
        "formats": ["dc+sd-jwt", "anoncreds"],
        "revocable": revocable,
        "claims": [
            {"path": ["name"], "kind": "text", "required": true},
            {"path": ["born"], "kind": "number", "integer": true},
            {"path": ["address"], "kind": "object", "claims": [{"path": ["city"], "kind": "text"}]},
            {"path": ["remark"], "kind": "text", "disclosed": "never"},
        ],
    });
    serde_json::from_value(file).unwrap()
}

fn issuer(app: &App) -> &Arc<Issuer> {
    app.main().issuer().unwrap()
}

/// Publishes the type, without waiting for the registry.
async fn publish(app: &App, definition: &TypeDefinition) -> TypeSummary {
    let types = issuer(app).types();
    types.replace("donor", definition).await.unwrap();
    app.publish_type(issuer(app), "donor").await.unwrap()
}

async fn objects(app: &App) -> AnonCredsObjects {
    let shown = app.type_shown(issuer(app), "donor").await.unwrap();
    shown.anoncreds.unwrap()
}

/// The objects once their publication has this state; waits for a minute at most.
async fn once(app: &App, state: PublishingState) -> AnonCredsObjects {
    for _ in 0..1_200 {
        let found = objects(app).await;
        if found.state == state {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?} does not become {state:?}", objects(app).await);
}

/// The object that the registry has under this identifier.
async fn read<T: CborItem>(world: &World, app: &App, id: &str) -> Option<T> {
    let network = app.registry().unwrap().network().await.unwrap();
    let key = state_key(id, network.as_str()).unwrap();
    let bytes = world.ledger.get(key.as_bytes()).unwrap();
    bytes.map(|bytes| T::from_cbor(&bytes).unwrap())
}

async fn transactions(app: &App) -> u64 {
    let status = app.registry().unwrap().status().await;
    status.unwrap().transactions
}

/// A record of the first version's publication.
async fn record(store: &Store, app: &App, kind: &str) -> Option<Vec<u8>> {
    let tenant = issuer(app).identity().tenant();
    let found = store.read(tenant, kind, "donor.1").await.unwrap();
    found.map(|record| record.value)
}

/// The public definition in the registry and its private key here fit, and there is no other definition.
async fn is_published_once(world: &World, app: &App) {
    let published = objects(app).await;
    let found: Option<PublishedDefinition> = read(world, app, &published.cred_def_id).await;
    let json = found.unwrap().definition.json;
    let definition = CredentialDefinition::from_json(json.as_bytes()).unwrap();
    let private = record(&world.store, app, "anoncreds_private_key").await;
    let private = CredentialDefinitionPrivate::from_json(&private.unwrap()).unwrap();
    anoncreds::Issuer::new(definition, &private).unwrap();
    // The issuer's DID, and the two objects.
    assert_eq!(transactions(app).await, 2);
    assert_eq!(published.seq_no, Some(2));
    assert_eq!(app.status().await.unwrap().outbox_waiting, 0);
    assert_eq!(app.status().await.unwrap().outbox_dead, 0);
}

/// A credential of the published definition, issued with the private key that is kept here.
async fn issued(
    world: &World,
    app: &App,
    published: &AnonCredsObjects,
    secret: &LinkSecret,
) -> HeldCredential {
    let definition: PublishedDefinition = read(world, app, &published.cred_def_id).await.unwrap();
    let definition = CredentialDefinition::from_json(definition.definition.json.as_bytes());
    let prepared = PreparedDefinition::new(definition.clone().unwrap()).unwrap();
    let clock = app.clock();
    let private = record(&world.store, app, "anoncreds_private_key")
        .await
        .unwrap();
    let private = CredentialDefinitionPrivate::from_json(&private).unwrap();
    let kept = record(&world.store, app, "anoncreds_definition")
        .await
        .unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let proof = kept["correctness"].as_str().unwrap();
    let offer = create_offer(
        &SchemaId::new(published.schema_id.clone()).unwrap(),
        &CredentialDefinitionId::new(published.cred_def_id.clone()).unwrap(),
        &serde_json::from_str(proof).unwrap(),
        &clock.ctx(),
    );
    let requester = Requester {
        link_secret: secret,
        did: None,
    };
    let open = request(requester, &prepared, &offer, &clock.ctx()).unwrap();
    assert!(open.proofs.all_bases && open.proofs.safe_primes);
    let values = [
        ("name", "Alice"),
        ("born", "1990"),
        ("address.city", "Bern"),
    ];
    let values = values_of(values.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let issuance = Issuance {
        offer: &offer,
        request: &open.request,
        values: &values.unwrap(),
        place: None,
    };
    let signer = anoncreds::Issuer::new(definition.unwrap(), &private).unwrap();
    let issued = issue(&signer, &issuance, &clock.ctx()).unwrap();
    let awaited = Awaited {
        metadata: &open.metadata,
        link_secret: secret,
        definition: &prepared,
        encoding: Encoding::Recommended,
        registry: None,
    };
    accept(&issued.credential, &awaited).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_issued_and_verified_by_what_the_registry_has() {
    let world = World::memory().await;
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    let shown = publish(&app, &donor(false)).await;
    assert_eq!(shown.anoncreds.unwrap().state, PublishingState::Publishing);
    let published = once(&app, PublishingState::Published).await;
    is_published_once(&world, &app).await;

    let schema: PublishedSchema = read(&world, &app, &published.schema_id).await.unwrap();
    let schema = Schema::from_json(schema.json.as_bytes()).unwrap();
    assert_eq!(
        (schema.name.as_str(), schema.version.as_str()),
        ("donor", "1")
    );
    assert_eq!(schema.attr_names, ["name", "born", "address.city"]);
    let definition: PublishedDefinition = read(&world, &app, &published.cred_def_id).await.unwrap();
    let definition =
        CredentialDefinition::from_json(definition.definition.json.as_bytes()).unwrap();
    assert!(definition.value.revocation.is_none());
    let prepared = PreparedDefinition::new(definition).unwrap();

    let secret = create_link_secret(&app.clock().ctx());
    let held = [issued(&world, &app, &published, &secret).await];
    let question = json!({
        "name": "donor", "version": "1.0", "nonce": "1234567890",
        "requested_attributes": {"where": {
            "name": "address.city", "restrictions": [{"cred_def_id": published.cred_def_id}],
        }},
        "requested_predicates": {"adult": {"name": "born", "p_type": "<=", "p_value": 2008}},
    });
    let question = PresentationRequest::from_json(question.to_string().as_bytes()).unwrap();
    let known = PublishedObjects {
        schemas: BTreeMap::from([(published.schema_id, schema)]),
        definitions: BTreeMap::from([(published.cred_def_id, prepared)]),
        ..PublishedObjects::default()
    };
    let choice = HoldersChoice {
        hidden: Vec::new(),
        attested: BTreeMap::new(),
    };
    let saved = known.clone();
    let draft = AnswerDraft::new(&question, &held, &saved, &choice).unwrap();
    let presentation = draft.present(&secret, &app.clock().ctx()).unwrap();
    let judged = verify(&presentation, &question, known, Leniency::default()).unwrap();
    assert!(judged.presentation.verdict.is_valid());
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_before_the_keys_are_made_leaves_a_publication_that_goes_on() {
    let world = World::memory().await;
    let first = app(&world, ISSUER).await;
    let shown = publish(&first, &donor(true)).await;
    // Its worker never ran.
    assert_eq!(shown.anoncreds.unwrap().state, PublishingState::Publishing);
    assert!(
        record(&world.store, &first, "anoncreds_private_key")
            .await
            .is_none()
    );
    drop(first);
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    let published = once(&app, PublishingState::Published).await;
    is_published_once(&world, &app).await;
    let definition: PublishedDefinition = read(&world, &app, &published.cred_def_id).await.unwrap();
    let definition =
        CredentialDefinition::from_json(definition.definition.json.as_bytes()).unwrap();
    assert!(definition.value.revocation.is_some());
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erased_organisation_keeps_neither_the_key_nor_the_objects() {
    let world = World::memory().await;
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    let name = OrganisationName::parse("clinic").unwrap();
    let new = json!({"name": "clinic", "title": "Clinic", "issuer": true, "verifier": false});
    let new = serde_json::from_value(new).unwrap();
    app.create_organisation(&new).await.unwrap();
    let roles = app.roles_of(&name, Access::Acting).await.unwrap();
    let issuer = roles.issuer().unwrap();
    issuer.types().create(&donor(true)).await.unwrap();
    app.publish_type(issuer, "donor").await.unwrap();
    let tenant = issuer.identity().tenant();
    let kept = async || {
        let mut kept = 0;
        for kind in KINDS {
            let found = world.store.read(tenant, kind, "donor.1").await;
            kept += usize::from(found.unwrap().is_some());
        }
        kept
    };
    until(async || kept().await == KINDS.len()).await;
    let order = ErasureOrder {
        confirm: "clinic".to_owned(),
        now: false,
    };
    app.erase_organisation(&name, &order).await.unwrap();
    until(async || kept().await == 0).await;
    app.stop().await;
}

/// Waits until this is so; for a minute at most.
async fn until(is_so: impl AsyncFn() -> bool) {
    for _ in 0..1_200 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not become so");
}

/// Publishes while the ledger does this, and waits until the keys are stored and the ledger was called. Returns the
/// definition that is stored.
async fn cut_off(world: &World, broken: impl Fn(&World)) -> Vec<u8> {
    let app = app(world, ISSUER).await;
    app.start().await.unwrap();
    while world
        .ledger
        .begun
        .try_acquire()
        .map(|one| one.forget())
        .is_ok()
    {}
    broken(world);
    publish(&app, &donor(true)).await;
    world.ledger.is_waited_at().await;
    let kept = record(&world.store, &app, "anoncreds_definition").await;
    assert!(
        record(&world.store, &app, "anoncreds_private_key")
            .await
            .is_some()
    );
    assert_eq!(objects(&app).await.state, PublishingState::Publishing);
    app.stop().await;
    kept.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_before_the_registry_has_it_publishes_the_key_that_was_stored() {
    let world = World::memory().await;
    let kept = cut_off(&world, |world| world.ledger.lose()).await;
    world.ledger.work();
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    once(&app, PublishingState::Published).await;
    is_published_once(&world, &app).await;
    let still = record(&world.store, &app, "anoncreds_definition").await;
    assert_eq!(still.unwrap(), kept);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_before_the_registrys_answer_publishes_nothing_twice() {
    let world = World::memory().await;
    let kept = cut_off(&world, |world| world.ledger.lose_answers()).await;
    world.ledger.work();
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    once(&app, PublishingState::Published).await;
    is_published_once(&world, &app).await;
    let still = record(&world.store, &app, "anoncreds_definition").await;
    assert_eq!(still.unwrap(), kept);
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_told_and_another_attempt_has_the_same_key() {
    let world = World::memory().await;
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    let identity = issuer(&app).identity();
    let taken = json!({
        "name": "donor", "version": "1", "attrNames": ["other"], "issuerId": identity.did(),
    });
    let schema = Operation::Schema {
        json: taken.to_string(),
    };
    let alone = Batch::new(identity.tenant().clone());
    app.dids().write_as(identity, schema, alone).await.unwrap();

    publish(&app, &donor(true)).await;
    let failed = once(&app, PublishingState::Failed).await;
    assert!(failed.reason.is_some() && failed.seq_no.is_none());
    let kept = record(&world.store, &app, "anoncreds_definition").await;
    let again = app.publish_type(issuer(&app), "donor").await.unwrap();
    assert_eq!(again.anoncreds.unwrap().state, PublishingState::Publishing);
    once(&app, PublishingState::Failed).await;
    assert_eq!(
        record(&world.store, &app, "anoncreds_definition").await,
        kept
    );
    // What helps is another version, which has names of its own.
    publish(&app, &donor(true)).await;
    let published = once(&app, PublishingState::Published).await;
    assert!(published.schema_id.ends_with("/donor/2"), "{published:?}");
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_given_up_is_sent_again_as_it_was() {
    let world = World::memory().await;
    let app = app(&world, ISSUER).await;
    app.start().await.unwrap();
    world.ledger.lose();
    publish(&app, &donor(true)).await;
    // The pauses between attempts are skipped.
    let clock = app.clock().clone();
    let skipping = tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            clock.advance(2_000);
        }
    });
    once(&app, PublishingState::Failed).await;
    skipping.abort();
    let given_up = record(&world.store, &app, "anoncreds_publication").await;
    let given_up: Value = serde_json::from_slice(&given_up.unwrap()).unwrap();
    assert!(given_up["state"]["Failed"]["unanswered"].is_string());
    world.ledger.work();
    app.publish_type(issuer(&app), "donor").await.unwrap();
    once(&app, PublishingState::Published).await;
    // The issuer's DID, and the two objects.
    assert_eq!(transactions(&app).await, 2);
    app.stop().await;
}

#[tokio::test]
async fn an_issuer_without_a_did_of_the_registry_is_told_what_to_do_and_the_draft_stays() {
    for (registry, reason) in [
        (false, "anoncreds-no-registry"),
        (true, "anoncreds-did-elsewhere"),
    ] {
        let world = World::memory().await;
        let mut config = config(Roles { registry, ..ISSUER });
        config.issuer.did_method = Some(DidMethod::named("jwk").unwrap());
        if !registry {
            config.registry = RegistryConfig::None;
        }
        let parts = Parts {
            store: world.store.clone(),
            net: Net::new(Settings::default()).unwrap(),
            ledger: Some(world.ledger.clone()),
            hsm: None,
            book_index: None,
        };
        let app = App::open(config, parts).await.unwrap().0;
        let types = issuer(&app).types();
        types.create(&donor(true)).await.unwrap();
        let refused = app.publish_type(issuer(&app), "donor").await.unwrap_err();
        assert_eq!(refused.reason.id(), reason);
        let shown = app.type_shown(issuer(&app), "donor").await.unwrap();
        assert!(shown.has_draft && shown.version.is_none());
    }
}
