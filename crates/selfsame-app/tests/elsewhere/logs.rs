//! DIDs with logs: fetched from their host with the proofs of their witnesses, verified once, and made here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use selfsame_app::App;
use selfsame_core::config::ResolverConfig;
use selfsame_core::view::NewDid;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_store::{Memory, Store, Vault};
use selfsame_testkit::fake_server::{FakeServer, Reply};
use selfsame_webvh::{
    Approval, Log, Next, ParameterChange, UnsignedEntry, Witnesses, commitment, create, update,
};
use serde_json::{Value, json};

use crate::world;

const LOG: &str = "/.well-known/did.jsonl";
const WITNESSES: &str = "/.well-known/did-witness.json";

#[derive(Default)]
struct Files {
    served: BTreeMap<String, Vec<u8>>,
    asked: Vec<String>,
}

/// A host of logs, and an instance that trusts it.
struct Host {
    app: Arc<App>,
    files: Arc<Mutex<Files>>,
    port: u16,
    _server: FakeServer,
}

impl Host {
    async fn start() -> Self {
        let files = Arc::new(Mutex::new(Files::default()));
        let serving = files.clone();
        let server = FakeServer::start(move |asked| {
            let mut files = serving.lock().unwrap();
            files.asked.push(asked.path.clone());
            let body = files.served.get(&asked.path).cloned();
            Reply {
                status: if body.is_some() { 200 } else { 404 },
                content_type: "text/jsonl",
                body: body.unwrap_or_default(),
                ..Reply::default()
            }
        })
        .await
        .unwrap();
        let address: url::Url = server.address().parse().unwrap();
        let port = address.port().unwrap();
        let mut config = world::config(ResolverConfig::default());
        let own: url::Url = format!("http://localhost:{port}/").parse().unwrap();
        config.origin = own.clone();
        config.trust.origins = vec![own];
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        Self {
            app: world::open(&config, &store).await,
            files,
            port,
            _server: server,
        }
    }

    fn now(&self) -> UnixTime {
        self.app.clock().now()
    }

    fn serve(&self, path: &str, body: impl Into<Vec<u8>>) {
        let mut files = self.files.lock().unwrap();
        files.served.insert(path.to_owned(), body.into());
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.files.lock().unwrap().asked)
    }

    async fn resolve(&self, did: &Did) -> Arc<Resolution> {
        self.app.resolve(did, &Options::default()).await
    }

    fn document(&self) -> Value {
        json!({
            "@context": ["https://www.w3.org/ns/did/v1"],
            "id": format!("did:webvh:{{SCID}}:localhost%3A{}", self.port),
        })
    }
}

fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::Ed25519).unwrap()
}

fn keys(key: &PrivateKey) -> ParameterChange {
    ParameterChange {
        update_keys: Some(vec![key.public().to_multikey()]),
        ..ParameterChange::default()
    }
}

fn line(unsigned: UnsignedEntry, key: &PrivateKey) -> Vec<u8> {
    let signature = key.sign(unsigned.bytes()).unwrap();
    unsigned.signed(&signature)
}

/// The log with a further entry, whose document has another name.
fn longer(did: &Did, text: &[u8], key: &PrivateKey, now: UnixTime) -> Vec<u8> {
    let reading = Log::of(did).unwrap().read(text, now);
    let version = reading.log().versions().last().unwrap();
    let document = reading.log().document(version).unwrap();
    let mut state = serde_json::to_value(&document).unwrap();
    state["alsoKnownAs"] = json!([format!("https://{}.example/", version.id.len())]);
    let next = Next {
        state: &state,
        change: ParameterChange::default(),
    };
    let entry = update(reading.log(), next, key.public(), now).unwrap();
    [text, &line(entry, key)].concat()
}

#[tokio::test]
async fn a_log_is_fetched_from_its_host_and_its_versions_are_found() {
    let (host, key) = (Host::start().await, key());
    let entry = create(&host.document(), keys(&key), key.public(), host.now()).unwrap();
    let (did, first) = (entry.did.clone(), entry.version_id.clone());
    let missing = host.resolve(&did).await;
    assert_eq!(missing.metadata.error, Some(ResolutionError::NotFound));
    host.app.clock().advance(60);
    let text = line(entry, &key);
    host.serve(LOG, text.clone());
    let found = host.resolve(&did).await;
    assert_eq!(found.document_metadata.version_id, Some(first.clone()));
    host.asked();
    host.resolve(&did).await;
    assert!(host.asked().is_empty(), "it is cached");

    host.app.clock().advance(120);
    host.serve(LOG, longer(&did, &text, &key, host.now()));
    let found = host.resolve(&did).await;
    assert_eq!(found.document().unwrap().also_known_as.len(), 1);
    assert_eq!(host.asked(), [LOG], "no witness has to be asked for");
    let at_first = Options {
        version_number: Some(1),
        ..Options::default()
    };
    let old = host.app.resolve(&did, &at_first).await;
    assert_eq!(old.document_metadata.version_id, Some(first));
    let both = Options {
        version_id: Some("1-x".to_owned()),
        ..at_first
    };
    let refused = host.app.resolve(&did, &both).await;
    assert_eq!(
        refused.metadata.error,
        Some(ResolutionError::InvalidOptions)
    );
}

#[tokio::test]
async fn a_log_that_is_wrong_is_refused_with_its_entry() {
    let (host, key) = (Host::start().await, key());
    let entry = create(&host.document(), keys(&key), key.public(), host.now()).unwrap();
    let did = entry.did.clone();
    let text = line(entry, &key);
    host.app.clock().advance(10);
    let whole = longer(&did, &text, &key, host.now());
    let wrong = String::from_utf8(whole)
        .unwrap()
        .replace(".example/", ".example.org/");
    host.serve(LOG, wrong);
    let refused = host.resolve(&did).await;
    assert_eq!(refused.metadata.error, Some(ResolutionError::InvalidDid));
    let reason = refused.metadata.reason.as_ref().unwrap();
    assert!(
        reason.contains("log-refused") && reason.contains("entry-hash-mismatch"),
        "{reason}"
    );
    let at_first = Options {
        version_number: Some(1),
        ..Options::default()
    };
    assert!(host.app.resolve(&did, &at_first).await.document().is_ok());
    host.app.clock().advance(60);
    host.serve(LOG, vec![b'x'; 2 * 1024 * 1024 + 1]);
    let refused = host.resolve(&did).await;
    assert_eq!(refused.metadata.error, Some(ResolutionError::InternalError));
}

#[tokio::test]
async fn witnesses_are_asked_for_when_an_entry_needs_them() {
    let (host, author, witness) = (Host::start().await, key(), key());
    let ids = vec![selfsame_did::key::create(witness.public())];
    let change = ParameterChange {
        witness: Some(Witnesses { threshold: 1, ids }),
        ..keys(&author)
    };
    let entry = create(&host.document(), change, author.public(), host.now()).unwrap();
    let (did, version) = (entry.did.clone(), entry.version_id.clone());
    let text = line(entry, &author);
    host.serve(LOG, text.clone());
    let refused = host.resolve(&did).await;
    let reason = refused.metadata.reason.as_ref().unwrap();
    assert!(reason.contains("witness-proofs-missing"), "{reason}");
    let approval = Approval::new(&version, witness.public(), host.now()).unwrap();
    let signature = witness.sign(approval.bytes()).unwrap();
    let file = json!([approval.signed(&signature)]).to_string();
    host.serve(WITNESSES, file);
    host.app.clock().advance(60);
    assert!(host.resolve(&did).await.document().is_ok());
    assert_eq!(host.asked(), [LOG, WITNESSES, LOG, WITNESSES]);
    // The entry was approved, so its proofs are not fetched again.
    host.app.clock().advance(120);
    assert!(host.resolve(&did).await.document().is_ok());
    assert_eq!(host.asked(), [LOG]);
    host.app.clock().advance(120);
    host.serve(LOG, longer(&did, &text, &author, host.now()));
    let refused = host.resolve(&did).await;
    let reason = refused.metadata.reason.as_ref().unwrap();
    assert!(reason.contains("witness-threshold-missed"), "{reason}");
}

#[tokio::test]
async fn a_did_with_a_log_is_made_here_rotated_and_ended() {
    let host = Host::start().await;
    let dids = host.app.dids();
    let new = NewDid {
        method: "webvh".to_owned(),
        kind: None,
    };
    let made = dids.create(&new).await.unwrap();
    let did = Did::parse(&made.did).unwrap();
    assert_eq!(made.document["id"], made.did);
    let path = did.as_str().rsplit(':').next().unwrap();
    let path = format!("dids/{path}");
    let served = async || {
        let text = dids.log(&path).await.unwrap();
        host.serve(&format!("/{path}/did.jsonl"), text.clone());
        text
    };
    assert_eq!(served().await.lines().count(), 1);
    let found = host.resolve(&did).await;
    assert_eq!(found.document().unwrap().methods().count(), 1);

    dids.rotate(&made.did).await.unwrap();
    dids.rotate(&made.did).await.unwrap();
    let text = served().await;
    let reading = Log::of(&did).unwrap().read(text.as_bytes(), host.now());
    assert_eq!((reading.fault(), reading.log().versions().len()), (None, 3));
    let active = reading.log().active().unwrap();
    assert_eq!(
        active.next_key_hashes.len(),
        1,
        "it commits to its next key"
    );
    assert_ne!(active.next_key_hashes[0], commitment(key().public()));
    let found = host.resolve(&did).await;
    assert_eq!(found.document().unwrap().methods().count(), 3);
    let web = dids.document(&path).await.unwrap();
    assert_eq!(
        web["id"],
        format!(
            "did:web:localhost%3A{}:{}",
            host.port,
            path.replace('/', ":")
        )
    );
    let names = web["alsoKnownAs"].as_array().unwrap();
    assert_eq!(names, &[json!(made.did)]);

    let ended = dids.deactivate(&made.did).await.unwrap();
    assert_eq!(ended.state, "deactivated");
    served().await;
    let gone = host.resolve(&did).await;
    assert!(gone.document_metadata.deactivated && gone.document.is_none());
    assert!(dids.rotate(&made.did).await.is_err());
    assert!(dids.document(&path).await.is_err());
    assert!(dids.log("dids/unknown").await.is_err());
}
