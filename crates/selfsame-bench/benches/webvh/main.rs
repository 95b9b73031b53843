//! How fast logs of did:webvh are verified: `cargo bench -p selfsame-bench --bench webvh`.
//!
//! The log has 100 entries, each with a document of three keys and two services, and each with pre-rotation.
#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a bench measures time and prints it"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use selfsame_bench::statistics::Sample;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, Document};
use selfsame_webvh::{Log, Next, ParameterChange, commitment, create, draft, update};
use serde_json::{Value, json};

/// 2026-06-01.
const NOW: UnixTime = UnixTime(1_780_272_000);
const ENTRIES: usize = 100;
const ROUNDS: usize = 21;

fn main() {
    let bench = Bench::new();
    let known = bench.empty.read(&bench.text[..bench.last], NOW);
    let known = known.log();
    assert_eq!(known.versions().len(), ENTRIES - 1);
    let (mut all, mut next) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        all.add(took(|| bench.read(&bench.empty)));
        next.add(took(|| bench.read(known)));
    }
    println!(
        "webvh_100_ms    {:.2}   100 entries, {} bytes",
        all.median(),
        bench.text.len()
    );
    println!("webvh_next_ms   {:.3}   the last of them", next.median());
}

fn took(job: impl Fn()) -> Duration {
    let begin = Instant::now();
    job();
    begin.elapsed()
}

struct Bench {
    empty: Log,
    text: Vec<u8>,
    /// Where the last entry begins.
    last: usize,
}

impl Bench {
    fn new() -> Self {
        let mut key = key();
        let mut next = self::key();
        let begin = NOW.minus(86_400);
        let unsigned = create(&document(), keys(&key, &next), key.public(), begin).unwrap();
        let empty = Log::of(&unsigned.did).unwrap();
        let signature = key.sign(unsigned.bytes()).unwrap();
        let mut bench = Self {
            text: unsigned.signed(&signature),
            last: 0,
            empty,
        };
        let mut log = bench.empty.clone();
        for number in 1..ENTRIES {
            log = log.read(&bench.text, NOW).log().clone();
            (key, next) = (next, self::key());
            let first: Value = serde_json::from_slice(first_line(&bench.text)).unwrap();
            let entry = Next {
                state: &first["state"],
                change: keys(&key, &next),
            };
            let at = begin.plus(60 * number as u64);
            let unsigned = update(&log, entry, key.public(), at).unwrap();
            let signature = key.sign(unsigned.bytes()).unwrap();
            bench.last = bench.text.len();
            bench.text.extend(unsigned.signed(&signature));
        }
        bench
    }

    fn read(&self, from: &Log) {
        let reading = from.read(&self.text, NOW);
        assert!(reading.fault().is_none());
        assert_eq!(black_box(reading.log().versions().len()), ENTRIES);
    }
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == b'\n').next().unwrap()
}

fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::Ed25519).unwrap()
}

fn keys(key: &PrivateKey, next: &PrivateKey) -> ParameterChange {
    ParameterChange {
        update_keys: Some(vec![key.public().to_multikey()]),
        next_key_hashes: Some(vec![commitment(next.public())]),
        ..ParameterChange::default()
    }
}

fn document() -> Value {
    let web = Did::parse("did:web:issuer.example:dids:a").unwrap();
    let mut document = Document::new(web);
    for name in ["key-1", "key-2", "key-3"] {
        document.add_key(name, key().public(), true).unwrap();
    }
    let mut state = draft(&document);
    state["service"] = json!([
        {"id": "#links", "type": "LinkedDomains", "serviceEndpoint": "https://issuer.example/"},
        {"id": "#agent", "type": "DIDCommMessaging", "serviceEndpoint": {"uri": "https://issuer.example/agent"}},
    ]);
    state
}
