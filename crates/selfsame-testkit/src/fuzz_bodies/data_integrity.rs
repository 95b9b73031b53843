//! Documents of W3C with Data Integrity proofs.

use selfsame_crypto::{KeyType, PublicKey};
use selfsame_data_integrity::{
    Contexts, Cryptosuite, ProofOptions, ProofPurpose, Secured, jcs, prepare,
};
use serde_json::{Value, json};

/// Credentials of each suite, and a chain.
const JCS: &str = include_str!("../../../../vectors/data-integrity/jcs.json");
const RDFC: &str = include_str!("../../../../vectors/data-integrity/rdfc.json");
const CHAINS: &str = include_str!("../../../../vectors/data-integrity/chains.json");

/// A document: there is always a result for each proof, its canonical JSON is its own, what is signed does not depend on
/// how the text was written, and a proof over other contents does not hold.
pub fn data_integrity(data: &[u8]) -> bool {
    let Ok(secured) = Secured::parse(data) else {
        return false;
    };
    let contexts = Contexts::bundled();
    let keys: Vec<Option<PublicKey>> = secured
        .proofs()
        .iter()
        .map(|proof| PublicKey::from_multikey(proof.method.rsplit('#').next()?).ok())
        .collect();
    let results = secured.verify(&keys, &contexts);
    assert_eq!(
        results.len(),
        secured.proofs().len(),
        "each proof is judged"
    );
    let document = Value::Object(secured.document().clone());
    if let Ok(canonical) = jcs::to_bytes(&document) {
        let again: Value = serde_json::from_slice(&canonical).expect("it is JSON");
        assert_eq!(
            jcs::to_bytes(&again).as_ref(),
            Ok(&canonical),
            "it is its own"
        );
    }
    let is_transformed = Cryptosuite::ALL.map(|suite| is_hashed_alike(&secured, suite));
    if results.iter().any(Result::is_ok) {
        let mut changed = secured.document().clone();
        changed.insert("id".to_owned(), "urn:example:changed".into());
        let proofs: Value = serde_json::from_slice(data).expect("it was read");
        changed.insert("proof".to_owned(), proofs["proof"].clone());
        let changed = Secured::of(changed.into()).expect("its proofs are as they were");
        let is_same = changed.document() == secured.document();
        let broken = changed.verify(&keys, &contexts);
        assert!(
            is_same || broken.iter().all(Result::is_err),
            "it is changed"
        );
    }
    is_transformed.contains(&true)
}

/// Whether a document can be transformed; then what is hashed does not depend on the order of an array of proofs.
fn is_hashed_alike(secured: &Secured, suite: Cryptosuite) -> bool {
    let key = match suite.name().starts_with("eddsa") {
        true => KeyType::Ed25519,
        false => KeyType::P256,
    };
    let options = ProofOptions::new(suite, "did:example:1#key", ProofPurpose::AssertionMethod);
    let hashed = |document: &Value| {
        let document = document.as_object().expect("it is an object").clone();
        prepare(document, &options, key, &Contexts::bundled()).map(|one| one.bytes().to_vec())
    };
    let document = Value::Object(secured.document().clone());
    let once = hashed(&document);
    assert_eq!(
        hashed(&document),
        once,
        "the names of blank nodes do not matter"
    );
    if once.is_ok() {
        let mut more = document;
        more["undefined-by-any-context"] = json!(null);
        assert_ne!(hashed(&more), once, "nothing is dropped");
    }
    once.is_ok()
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let read = |text: &str| -> Value { serde_json::from_str(text).expect("the vectors are JSON") };
    let cases = [read(JCS), read(RDFC)];
    let cases = cases
        .iter()
        .flat_map(|file| file["cases"].as_array().expect("cases"));
    let known = cases.filter(|case| !case["name"].to_string().contains("employment"));
    let mut seeds: Vec<Vec<u8>> = known
        .map(|case| case["signed"].to_string().into_bytes())
        .collect();
    seeds.push(read(CHAINS)["chain"].to_string().into_bytes());
    seeds
}
