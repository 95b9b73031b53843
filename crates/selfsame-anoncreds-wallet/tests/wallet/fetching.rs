//! What holders fetch from the issuer: tails files, and the proofs of its keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selfsame_anoncreds_wallet::revocation::TailsName;
use selfsame_anoncreds_wallet::{AnonCreds, DefinitionFilter};
use selfsame_driver::clock::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::world::{FakeRegistry, Party, adult, store};

const VALUES: [(&str, &str); 2] = [("name", "Alice"), ("born", "1990")];
const TAILS: &str = "/tails/hash/";
const KEY_PROOFS: &str = "/key-proofs/";

/// How the issuer's server answers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gives {
    File,
    OtherFile,
    Nothing,
}

/// The server of an issuer.
struct IssuerServer {
    of: AnonCreds,
    gives: Gives,
    /// Where that is so; what is below other addresses is given as it is.
    below: &'static str,
    /// Counts the requests for what is there.
    asked: Arc<AtomicUsize>,
}

impl IssuerServer {
    async fn run(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            self.answer(stream).await;
        }
    }

    async fn answer(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            assert!(stream.read_buf(&mut head).await.unwrap() > 0);
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap();
        let mut bytes = self.file(path).await;
        let mut status = "200 OK";
        if path.starts_with(self.below) {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match self.gives {
                Gives::File => {}
                Gives::OtherFile => bytes[300] ^= 1,
                Gives::Nothing => status = "404 Not Found",
            }
        }
        let length = bytes.len();
        let answer =
            format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    }

    async fn file(&self, path: &str) -> Vec<u8> {
        if let Some(hash) = path.strip_prefix(TAILS) {
            let (_, bytes) = self.of.tails(TailsName::Hash(hash)).await.unwrap().unwrap();
            return bytes.to_vec();
        }
        let hash = path.strip_prefix(KEY_PROOFS).unwrap();
        self.of.key_proof(hash).await.unwrap().unwrap()
    }
}

/// An issuer with its server, and a holder of another instance.
struct Apart {
    registry: Arc<FakeRegistry>,
    issuer: Party,
    holder: Party,
    asked: Arc<AtomicUsize>,
}

async fn apart(gives: Gives, below: &'static str) -> Apart {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}/", listener.local_addr().unwrap());
    let registry = FakeRegistry::new(Clock::default());
    let issuer = Party::at(&registry, "clinic", store().await, &origin).await;
    let holder = Party::at(&registry, "alice", store().await, &origin).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let server = IssuerServer {
        of: issuer.anoncreds.clone(),
        gives,
        below,
        asked: asked.clone(),
    };
    tokio::spawn(server.run(listener));
    Apart {
        registry,
        issuer,
        holder,
        asked,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tails_file_is_fetched_once_and_only_with_the_right_hash() {
    for gives in [Gives::File, Gives::OtherFile, Gives::Nothing] {
        let Apart {
            registry,
            issuer,
            holder,
            asked,
        } = apart(gives, TAILS).await;
        let cred_def_id = issuer.defines(&["name", "born"], Some(20)).await;
        let (issued, metadata) = issuer.issued(&holder, &cred_def_id, &VALUES).await;
        let kept = holder.keeps(&issued.json, &metadata).await;
        if gives != Gives::File {
            assert_eq!(kept.unwrap_err().reason.id(), "anoncreds-tails-absent");
            continue;
        }
        kept.unwrap();
        let mut request = adult(&cred_def_id);
        request["non_revoked"] = json!({"to": registry.clock.now().0});
        let presentation = holder.answers(&request).await.unwrap();
        assert!(issuer.finds(&request, &presentation).await.0);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_of_a_key_is_fetched_once_and_another_one_is_refused() {
    for gives in [Gives::File, Gives::OtherFile, Gives::Nothing] {
        let at = apart(gives, KEY_PROOFS).await;
        let cred_def_id = at.issuer.defines(&["name", "born"], None).await;
        let wanted = DefinitionFilter {
            cred_def_id: Some(cred_def_id),
            ..DefinitionFilter::default()
        };
        for seconds in [0, 30, 31] {
            at.registry.clock.advance(seconds);
            let offer = at.issuer.offers(&wanted).await;
            let (anoncreds, tenant) = (&at.holder.anoncreds, &at.holder.tenant);
            match (gives, anoncreds.request(tenant, &offer, None).await) {
                (Gives::OtherFile, Err(refused)) => {
                    assert_eq!(refused.reason.id(), "anoncreds-refused");
                }
                // An issuer need not prove more than the specification asks for.
                (Gives::File | Gives::Nothing, Ok(_)) => {}
                _ => panic!("the proof decides wrongly"),
            }
        }
        let fetched = match gives {
            Gives::File => 1,
            Gives::OtherFile => 3,
            Gives::Nothing => 2,
        };
        assert_eq!(at.asked.load(Ordering::SeqCst), fetched, "{gives:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_has_the_specifications_proof_and_tells_where_the_whole_one_is() {
    let at = apart(Gives::File, KEY_PROOFS).await;
    let cred_def_id = at.issuer.defines(&["name", "born"], None).await;
    let wanted = DefinitionFilter {
        cred_def_id: Some(cred_def_id),
        ..DefinitionFilter::default()
    };
    let offer = at.issuer.offers(&wanted).await;
    assert!(offer.len() < 5_000, "{} bytes", offer.len());
    let offer: Value = serde_json::from_slice(&offer).unwrap();
    let proof = offer["key_correctness_proof"].as_object().unwrap();
    let members: Vec<&str> = proof.keys().map(String::as_str).collect();
    assert_eq!(members, ["c", "published", "xr_cap", "xz_cap"]);
    let hash = proof["published"]["sha256"].as_str().unwrap();
    let whole = at.issuer.anoncreds.key_proof(hash).await.unwrap().unwrap();
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    assert!(whole["powers_of_s"].is_object() && whole["safe_primes"].is_object());
}
