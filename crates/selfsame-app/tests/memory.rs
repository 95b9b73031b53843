//! The memory that open organisations take. Runs in its own process, so that nothing else is counted.

#[path = "support/config.rs"]
mod config;

use std::alloc::System;
use std::sync::Arc;

use cap::Cap;
use config::config;
use selfsame_app::{Access, App, Parts};
use selfsame_core::organisation::OrganisationName;
use selfsame_core::organisation::view::NewOrganisation;
use selfsame_crypto::seal::SealingKey;
use selfsame_net::{Net, Settings};
use selfsame_openid::issuer::lists::ListFace;
use selfsame_store::{Memory, Store, Vault};
use selfsame_types::TypeDefinition;
use serde_json::{Value, json};

/// Does not count what C code takes: the keys of aws-lc.
#[global_allocator]
static COUNTED: Cap<System> = Cap::new(System, usize::MAX);

const ORGANISATIONS: usize = 1_000;
/// Opened first, so that what is made once is not counted.
const EARLIER: usize = 8;
/// The most bytes that an open organisation takes; its issuer's documents have a bound of their own.
const MOST_OPEN: usize = 6_000;
/// The most bytes that a status list takes which is ready to be served.
const MOST_LIST: usize = 1_800;

/// A process that has the records open.
async fn process(memory: &Arc<Memory>) -> Arc<App> {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let settings = Settings {
        native_roots: false,
        ..Settings::default()
    };
    let parts = Parts {
        store: Store::open(memory.clone(), vault).await.unwrap(),
        net: Net::new(settings).unwrap(),
        ledger: None,
        hsm: None,
        book_index: None,
    };
    App::open(config(), parts).await.unwrap().0
}

fn name(number: usize) -> OrganisationName {
    OrganisationName::parse(&format!("office-{number}")).unwrap()
}

fn staff_pass() -> TypeDefinition {
    let claim = |name: &str, kind: &str, example: &str| json!({"path": [name], "label": {"en": name}, "kind": kind, "required": true, "example": example});
    let claims: [Value; 5] = [
        claim("given_name", "text", "Maja"),
        claim("family_name", "text", "Musterfrau"),
        claim("born", "date", "1984-01-26"),
        claim("number", "text", "E-000017"),
        claim("department", "text", "Radiology"),
    ];
    let file = json!({"id": "staff-pass", "title": {"en": "Staff pass"}, "claims": claims});
    serde_json::from_value(file).unwrap()
}

/// Creates an organisation with one published type.
async fn create(app: &App, number: usize) {
    let new = NewOrganisation {
        host: None,
        name: name(number).as_str().to_owned(),
        title: format!("Office {number}"),
        issuer: true,
        verifier: true,
        samples: false,
        did_method: Some("jwk".to_owned()),
    };
    app.create_organisation(&new).await.unwrap();
    let roles = app.roles_of(&name(number), Access::Acting).await.unwrap();
    let issuer = roles.issuer().unwrap();
    issuer.types().create(&staff_pass()).await.unwrap();
    app.publish_type(issuer, "staff-pass").await.unwrap();
}

/// Opens the roles of an organisation and looks at its types, as the first requests do.
async fn open(app: &App, number: usize) {
    let roles = app.roles_of(&name(number), Access::Acting).await.unwrap();
    let types = roles.verifier().unwrap().types().await.unwrap();
    assert_eq!(types.issued().count(), 1);
    assert_eq!(roles.issuer().unwrap().names().len(), 2);
}

async fn serve(app: &App, number: usize) {
    let roles = app.roles_of(&name(number), Access::Acting).await.unwrap();
    let lists = roles.issuer().unwrap().lists();
    lists.serve(0, ListFace::TokenOfW3c).await.unwrap();
}

#[tokio::test]
async fn a_thousand_open_organisations_take_little_memory() {
    let memory = Arc::new(Memory::new());
    let creating = process(&memory).await;
    for number in 0..EARLIER + ORGANISATIONS {
        create(&creating, number).await;
    }
    drop(creating);

    let app = process(&memory).await;
    for number in 0..EARLIER {
        open(&app, number).await;
        serve(&app, number).await;
    }
    let before = COUNTED.allocated();
    for number in EARLIER..EARLIER + ORGANISATIONS {
        open(&app, number).await;
    }
    let open = (COUNTED.allocated() - before) / ORGANISATIONS;
    assert!(open <= MOST_OPEN, "{open} bytes an open organisation");

    let before = COUNTED.allocated();
    for number in EARLIER..EARLIER + ORGANISATIONS {
        serve(&app, number).await;
    }
    let list = (COUNTED.allocated() - before) / ORGANISATIONS;
    assert!(list <= MOST_LIST, "{list} bytes a list");
}
