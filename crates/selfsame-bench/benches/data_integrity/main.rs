//! How fast Data Integrity proofs are verified: `cargo bench -p selfsame-bench --bench data_integrity`.
//!
//! The credential has ten claims. Canonical JSON is compared with one Ed25519 verification alone, in alternating rounds
//! of the same run. The hardest datasets that are refused show the bound on the work.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a bench measures time and prints it"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use selfsame_bench::statistics::Sample;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey, PublicKey};
use selfsame_data_integrity::{
    Contexts, Cryptosuite, ProofOptions, ProofPurpose, Secured, prepare,
};
use serde_json::{Map, Value, json};

const ROUND: Duration = Duration::from_millis(400);
const ROUNDS: usize = 9;

fn main() {
    let bench = Bench::new();
    let [mut alone, mut json, mut rdf] = [(); 3].map(|()| Sample::default());
    for _ in 0..ROUNDS {
        alone.push_rate(ROUND, || bench.signature());
        json.push_rate(ROUND, || bench.verify(&bench.json));
        rdf.push_rate(ROUND, || bench.verify(&bench.rdf));
    }
    let ratio = alone.ratios_to(&json).median();
    println!("jcs_verify_per_s    {:.0}", json.median());
    println!("jcs_verify_ratio    {ratio:.2}   over one Ed25519 verification; bar: 2");
    println!("rdfc_verify_per_s   {:.0}   bar: 500", rdf.median());
    println!(
        "rdfc_refused_ms     {:.1}   the hardest dataset; bar: 50",
        bench.hardest()
    );
}

struct Bench {
    key: PrivateKey,
    keys: Vec<Option<PublicKey>>,
    contexts: Contexts,
    json: Vec<u8>,
    rdf: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let message = vec![7; 64];
        let mut bench = Self {
            keys: vec![Some(key.public().clone())],
            signature: key.sign(&message).unwrap(),
            key,
            contexts: Contexts::bundled(),
            json: Vec::new(),
            rdf: Vec::new(),
            message,
        };
        bench.json = bench.signed(Cryptosuite::EddsaJcs2022);
        bench.rdf = bench.signed(Cryptosuite::EddsaRdfc2022);
        bench
    }

    fn signed(&self, suite: Cryptosuite) -> Vec<u8> {
        let options =
            ProofOptions::new(suite, "did:example:issuer#1", ProofPurpose::AssertionMethod);
        let key = self.key.public().key_type();
        let unsigned = prepare(credential(), &options, key, &self.contexts).unwrap();
        let signature = self.key.sign(unsigned.bytes()).unwrap();
        serde_json::to_vec(&unsigned.signed(&signature).unwrap()).unwrap()
    }

    fn verify(&self, text: &[u8]) {
        let secured = Secured::parse(text).unwrap();
        let results = secured.verify(&self.keys, &self.contexts);
        assert_eq!(results, [Ok(())]);
        black_box(secured);
    }

    fn signature(&self) {
        let key = self.key.public();
        let verified = key.verify(Algorithm::EdDsa, &self.message, &self.signature);
        assert!(verified.is_ok());
    }

    /// Milliseconds until the hardest of these documents is refused: every node of them refers to every other, or each
    /// to the next ones in a circle.
    fn hardest(&self) -> f64 {
        let times = [6, 8, 10, 12, 20, 40].into_iter().flat_map(|nodes| {
            [nodes - 1, 2].map(|edges| {
                let document = entangled(nodes, edges);
                let options = ProofOptions::new(
                    Cryptosuite::EddsaRdfc2022,
                    "did:example:issuer#1",
                    ProofPurpose::AssertionMethod,
                );
                let begin = Instant::now();
                let made = prepare(document, &options, KeyType::Ed25519, &self.contexts);
                black_box(made.is_ok());
                begin.elapsed().as_secs_f64() * 1_000.0
            })
        });
        times.fold(0.0, f64::max)
    }
}

fn credential() -> Map<String, Value> {
    let mut subject = Map::new();
    subject.insert("id".to_owned(), "did:example:subject".into());
    for at in 0..10 {
        subject.insert(format!("claim{at}"), "a value of a usual length".into());
    }
    object(json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/examples/v2"],
        "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
        "type": ["VerifiableCredential", "ExampleCredential"],
        "issuer": "did:example:issuer",
        "validFrom": "2023-01-01T00:00:00Z",
        "credentialStatus": {
            "id": "https://issuer.example/status/1#7",
            "type": "BitstringStatusListEntry",
            "statusPurpose": "revocation",
            "statusListIndex": "7",
            "statusListCredential": "https://issuer.example/status/1",
        },
        "credentialSubject": subject,
    }))
}

/// Nodes without names, each of which refers to the next `edges` ones.
fn entangled(nodes: usize, edges: usize) -> Map<String, Value> {
    let node = |at: usize| {
        let others = (1..=edges).map(|step| json!({"@id": format!("_:n{}", (at + step) % nodes)}));
        json!({"@id": format!("_:n{at}"), "knows": others.collect::<Vec<_>>()})
    };
    object(json!({
        "@context": [
            "https://www.w3.org/ns/credentials/v2",
            {"knows": {"@id": "https://example.org/knows", "@type": "@id"}},
        ],
        "type": ["VerifiableCredential"],
        "credentialSubject": (0..nodes).map(node).collect::<Vec<_>>(),
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
