//! A stand-in for a Universal Resolver that answers late, as the study's public one did.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::Response;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::{Bench, Stage};
use crate::Error;
use crate::client::Client;

/// How late it answers. The study's took two to three seconds; this is its order of magnitude for a
/// resolver in the same country, and enough to show whether it is asked once or each time.
pub const DELAY: Duration = Duration::from_millis(250);
const DID: &str = "did:cheqd:testnet:7bf81a20-633c-4cc7-bc4a-5a45801005e0";

/// The running stand-in.
pub struct Resolver {
    address: String,
    document: Arc<OnceLock<Value>>,
    asked: Arc<AtomicU64>,
    running: AbortHandle,
}

impl Resolver {
    /// Starts it.
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}/", listener.local_addr()?);
        let document = Arc::new(OnceLock::new());
        let asked = Arc::new(AtomicU64::new(0));
        let running = tokio::spawn(serve(listener, document.clone(), asked.clone())).abort_handle();
        Ok(Self {
            address,
            document,
            asked,
            running,
        })
    }

    /// How often it was asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// A server whose issuer has a ledger's DID, with its key in the document that this resolver serves.
    pub async fn stage(&self, bench: &Bench<'_>) -> Result<Stage, Error> {
        let data = bench.scratch.join("latency-cheqd");
        let settings = format!("[issuer]\ndid = \"{DID}\"\n");
        let more = ["--foreign-resolver".to_owned(), self.address.clone()];
        let server = bench.program.start_with(&data, &settings, &more).await?;
        let client = Client::new(&server.base);
        let metadata = client.get("/.well-known/jwt-vc-issuer/issuer", "").await?;
        let key = metadata["jwks"]["keys"][0].clone();
        // Set once: the server is new.
        let _ = self.document.set(document(&key));
        Ok(Stage {
            server,
            client,
            people: Vec::new(),
        })
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        self.running.abort();
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

async fn serve(listener: TcpListener, document: Arc<OnceLock<Value>>, asked: Arc<AtomicU64>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (document, asked) = (document.clone(), asked.clone());
        let service = service_fn(move |_| {
            let (document, asked) = (document.clone(), asked.clone());
            async move {
                asked.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(DELAY).await;
                let result = json!({
                    "@context": "https://w3id.org/did-resolution/v1",
                    "didResolutionMetadata": {"contentType": "application/did"},
                    "didDocument": document.get(),
                    "didDocumentMetadata": {},
                });
                let response = Response::builder()
                    .header("content-type", "application/did-resolution")
                    .body(Full::new(Bytes::from(result.to_string())))
                    .unwrap_or_default();
                Ok::<_, Infallible>(response)
            }
        });
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}
