//! A toy DID method, added as `docs/extend/did-method.md` says: one description, and its line in a table. Its DIDs are
//! a key in the multikey form.

use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_did::method::{self, METHODS, Method, Methods, OfKey, Origin};
use selfsame_did::{
    Did, Document, Options, Relationship, Resolution, ResolutionError, ResolutionPlan,
    VerificationMethod,
};

const METHOD: Method = Method {
    name: "toy",
    origin: Origin::Itself,
    plan,
    read: None,
    anchored: None,
    of_key: Some(OfKey {
        create,
        fragment: |_| "toy",
    }),
    binary: None,
};

/// Some of the known methods, and the toy.
const WITH_TOY: Methods = Methods::new(&[&method::key::METHOD, &method::web::METHOD, &METHOD]);

fn create(key: &PublicKey) -> Did {
    let did = format!("did:{}:{}", METHOD.name, key.to_multikey());
    Did::parse(&did).unwrap()
}

fn plan(did: &Did, options: &Options) -> Result<ResolutionPlan, ResolutionError> {
    let key = PublicKey::from_multikey(did.method_id());
    let key = key.map_err(|_| ResolutionError::InvalidDid)?;
    let id = did.with_fragment("toy").unwrap();
    let mut document = Document::new(did.clone());
    let method = VerificationMethod::json_web_key(id, &key);
    document.add(method, &Relationship::SIGNING);
    let found = Resolution::found(document, options.accept);
    Ok(ResolutionPlan::Done(Box::new(found)))
}

fn key() -> PublicKey {
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    key.public().clone()
}

#[test]
fn a_toy_method_resolves_like_the_others_once_it_is_in_the_table() {
    let did = create(&key());
    let plan = WITH_TOY.plan(&did, &Options::default()).unwrap();
    let ResolutionPlan::Done(resolution) = plan else {
        panic!("{plan:?}")
    };
    let document = resolution.document_of(&did).unwrap();
    let kid = format!("{did}#toy");
    assert_eq!(document.verification_method[0].id.to_string(), kid);
}

#[test]
fn a_did_that_the_toy_method_does_not_take_is_invalid() {
    let did = Did::parse("did:toy:not-a-key").unwrap();
    let planned = WITH_TOY.plan(&did, &Options::default());
    assert_eq!(planned, Err(ResolutionError::InvalidDid));
}

#[test]
fn a_method_outside_of_the_table_is_left_to_another_resolver() {
    let did = create(&key());
    let planned = METHODS.plan(&did, &Options::default());
    assert_eq!(planned, Ok(ResolutionPlan::Resolver(did)));
}
