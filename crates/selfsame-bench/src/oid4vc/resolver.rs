//! A fake Universal Resolver with a delay, like the study's public one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Oid4vcBench, Stage};
use crate::Error;
use crate::client::BenchClient;
use crate::fake_server::{FakeServer, Reply};

/// The delay of each answer. The study's resolver took two to three seconds. This delay has the order of magnitude of a
/// resolver in the same country, and is enough to show whether it is asked once or each time.
pub const DELAY: Duration = Duration::from_millis(250);
const DID: &str = "did:cheqd:testnet:7bf81a20-633c-4cc7-bc4a-5a45801005e0";

/// The running fake resolver.
pub struct FakeResolver {
    late: FakeServer,
    document: Arc<OnceLock<Value>>,
    asked: Arc<AtomicU64>,
}

impl FakeResolver {
    /// Starts the resolver.
    pub async fn start() -> Result<Self, Error> {
        let document = Arc::new(OnceLock::new());
        let asked = Arc::new(AtomicU64::new(0));
        let (served, counted) = (document.clone(), asked.clone());
        let late = FakeServer::start(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            answer(&served)
        })
        .await?;
        Ok(Self {
            late,
            document,
            asked,
        })
    }

    /// The number of requests so far.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// A server whose issuer has a DID on a ledger. This resolver serves its document, with the issuer's key.
    pub async fn stage(&self, bench: &Oid4vcBench<'_>, name: &str) -> Result<Stage, Error> {
        let data = bench.scratch.join(name);
        let settings = format!("[issuer]\ndid = \"{DID}\"\n");
        let more = [
            "--foreign-resolver".to_owned(),
            self.late.address().to_owned(),
        ];
        let server = bench.program.start_with(&data, &settings, &more).await?;
        let client = BenchClient::new(&server.base);
        let metadata = client.get("/.well-known/jwt-vc-issuer/issuer", "").await?;
        let key = metadata["jwks"]["keys"][0].clone();
        // This sets the document for the first time, since the server is new.
        let _ = self.document.set(document(&key));
        Ok(Stage {
            server,
            client,
            people: Vec::new(),
        })
    }
}

fn document(key: &Value) -> Value {
    let kid = key["kid"].as_str().map_or_else(
        || format!("{DID}#key-1"),
        |kid| {
            if kid.starts_with("did:") {
                kid.to_owned()
            } else {
                format!("{DID}#{kid}")
            }
        },
    );
    json!({
        "@context": ["https://www.w3.org/ns/did/v1"],
        "id": DID,
        "verificationMethod": [{"id": kid, "type": "JsonWebKey2020", "controller": DID, "publicKeyJwk": key}],
        "assertionMethod": [kid],
        "authentication": [kid],
    })
}

fn answer(document: &OnceLock<Value>) -> Reply {
    let result = json!({
        "@context": "https://w3id.org/did-resolution/v1",
        "didResolutionMetadata": {"contentType": "application/did"},
        "didDocument": document.get(),
        "didDocumentMetadata": {},
    });
    Reply {
        status: 200,
        content_type: "application/did-resolution",
        body: result.to_string().into_bytes(),
        after: DELAY,
        ..Reply::default()
    }
}
