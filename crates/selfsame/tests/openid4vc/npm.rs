//! Both directions: our wallet with their issuer and verifier, and their wallet with ours.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Api;
use crate::instance::{Instance, free_port};

/// An issuer, a verifier or a holder of theirs; dropping it stops it.
struct Peer {
    child: Child,
    told: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Peer {
    fn start(role: &str, job: &Value) -> Self {
        let folder = std::env::var_os("SELFSAME_OPENID4VC_PEER")
            .expect("where the packages are: cargo xtask cross openid4vc says so");
        let mut child = Command::new("node")
            .arg(PathBuf::from(folder).join("peer.mjs"))
            .arg(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = child.stdin.take().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut peer = Self { child, told, said };
        peer.tell(job);
        peer
    }

    fn tell(&mut self, what: &Value) {
        writeln!(self.told, "{what}").unwrap();
    }

    /// The next message that it prints.
    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("it said {line:?}"))
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(api: &Api, path: &str, body: &Value) -> Value {
    let reply = api.send("POST", path, Some(body)).unwrap();
    assert!(
        reply.is_success(),
        "{path}: {} {}",
        reply.status,
        reply.json()
    );
    reply.json()
}

fn person(instance: &Instance) -> Api {
    let anybody = instance.operator().with_token("");
    let who = json!({"email": "rosa@example.org", "password": "a long walk in the rain"});
    let session = post(&anybody, "/api/wallet/register", &who);
    anybody.with_token(session["token"].as_str().unwrap())
}

/// An instance that may call these ports of this machine.
fn started(ports: &[u16]) -> (tempfile::TempDir, Instance) {
    let folder = tempfile::tempdir().unwrap();
    let origins: Vec<String> = ports
        .iter()
        .flat_map(|port| {
            [
                "--trust-origin".to_owned(),
                format!("http://localhost:{port}/"),
            ]
        })
        .collect();
    let arguments: Vec<&str> = origins.iter().map(String::as_str).collect();
    let mut instance = Instance::start(&folder.path().join("data"), free_port(), &arguments);
    instance.ready();
    (folder, instance)
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn our_wallet_takes_what_their_issuer_offers_and_shows_it_to_their_verifier() {
    let ports: Vec<u16> = (0..5).map(|_| free_port()).collect();
    let (_folder, instance) = started(&ports);
    let person = person(&instance);
    let mut issuer = Peer::start("issuer", &json!({"port": ports[0]}));
    let offered = issuer.hear();
    let offer = json!({"offer": offered["offer"]});
    let preview = post(&person, "/api/wallet/offers/preview", &offer);
    assert!(preview.to_string().contains("Membership"), "{preview}");
    post(&person, "/api/wallet/offers/accept", &offer);
    let again = person.send("POST", "/api/wallet/offers/accept", Some(&offer));
    assert!(!again.unwrap().is_success());
    let cards = person
        .send("GET", "/api/wallet/credentials", None)
        .unwrap()
        .json();
    assert_eq!(
        cards["items"][0]["types"],
        json!(["urn:example:membership"])
    );

    for (port, signed, by_value) in [
        (ports[1], true, false),
        (ports[2], false, false),
        (ports[4], true, true),
    ] {
        let asked = json!({
            "port": port, "issuer": offered["issuer"], "signed": signed, "by_value": by_value,
            "names": ["given_name"],
        });
        let mut verifier = Peer::start("verifier", &asked);
        let answer = json!({"request": verifier.hear()["request"], "policy": "newest"});
        post(&person, "/api/wallet/requests/answer", &answer);
        // A claim that was not requested stays in the wallet.
        assert_eq!(verifier.hear(), json!({"claims": {"given_name": "Inés ✓"}}));
    }

    // They verify what they receive: this issuer is another one.
    let asked = json!({
        "port": ports[3], "issuer": offered["other"], "signed": true, "names": ["given_name"],
    });
    let mut verifier = Peer::start("verifier", &asked);
    let answer = json!({"request": verifier.hear()["request"], "policy": "newest"});
    let refused = person.send("POST", "/api/wallet/requests/answer", Some(&answer));
    let refused = refused.unwrap();
    let is_taken = refused.is_success() && refused.json()["delivered"] == true;
    assert!(!is_taken, "{}", refused.json());
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn our_wallet_encrypts_to_their_issuer_and_their_verifier_and_agrees_to_their_transaction() {
    let ports: Vec<u16> = (0..3).map(|_| free_port()).collect();
    let (_folder, instance) = started(&ports);
    let person = person(&instance);
    let mut issuer = Peer::start("issuer", &json!({"port": ports[0], "encrypted": true}));
    let offered = issuer.hear();
    post(
        &person,
        "/api/wallet/offers/accept",
        &json!({"offer": offered["offer"]}),
    );
    let asked = json!({
        "port": ports[1], "issuer": offered["issuer"], "signed": true, "encrypted": true,
        "names": ["given_name"],
    });
    let mut verifier = Peer::start("verifier", &asked);
    let answer = json!({"request": verifier.hear()["request"], "policy": "newest"});
    post(&person, "/api/wallet/requests/answer", &answer);
    assert_eq!(verifier.hear(), json!({"claims": {"given_name": "Inés ✓"}}));

    let transaction = json!({
        "type": "urn:selfsame:transaction:payment", "credential_ids": ["membership"],
        "transaction_data_hashes_alg": ["sha-256"],
        "payee": "Harbour Shop", "amount": "12.50", "currency": "EUR",
    });
    let asked = json!({
        "port": ports[2], "issuer": offered["issuer"], "signed": true, "encrypted": true,
        "names": ["given_name"], "transaction": transaction,
    });
    let mut verifier = Peer::start("verifier", &asked);
    let link = json!({"request": verifier.hear()["request"]});
    let preview = post(&person, "/api/wallet/requests/preview", &link);
    assert_eq!(preview["transactions"][0]["title"], "Payment", "{preview}");
    let card = preview["shares"][0]["choices"][0]["card"].clone();
    let answer = json!({"request": preview["id"], "cards": {"membership": card}});
    post(&person, "/api/wallet/requests/answer", &answer);
    assert_eq!(verifier.hear(), json!({"claims": {"given_name": "Inés ✓"}}));
}

/// The members of a request to the peer for a licence.
fn licence(authority: &str) -> Value {
    json!({"doctype": "org.iso.18013.5.1.mDL", "namespace": "org.iso.18013.5.1", "authority": authority})
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn our_wallet_shows_a_mobile_document_to_their_verifier() {
    let ports: Vec<u16> = (0..2).map(|_| free_port()).collect();
    let (_folder, instance) = started(&ports);
    let person = person(&instance);
    let new = json!({"type": "driving-licence", "examples": true});
    let offer = post(&instance.operator(), "/api/issuer/offers", &new);
    post(
        &person,
        "/api/wallet/offers/accept",
        &json!({"offer": offer["uri"]}),
    );
    let authority = instance.operator().send("GET", "/issuer/authority", None);
    let authority = String::from_utf8(authority.unwrap().body).unwrap();
    for (port, encrypted) in [(ports[0], false), (ports[1], true)] {
        let asked = json!({
            "port": port, "signed": true, "encrypted": encrypted, "mdoc": licence(&authority),
            "names": ["family_name", "age_over_18"],
        });
        let mut verifier = Peer::start("verifier", &asked);
        let answer = json!({"request": verifier.hear()["request"], "policy": "newest"});
        post(&person, "/api/wallet/requests/answer", &answer);
        let shown = json!({"elements": {"family_name": "Musterfrau", "age_over_18": true}});
        assert_eq!(verifier.hear(), shown);
    }
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn their_wallet_takes_a_mobile_document_of_our_issuer_and_shows_it_to_our_verifier() {
    let (_folder, instance) = started(&[]);
    let operator = instance.operator();
    let new = json!({"type": "driving-licence", "examples": true});
    let offer = post(&operator, "/api/issuer/offers", &new);
    let mut holder = Peer::start("holder", &json!({"offer": offer["uri"]}));
    let taken = holder.hear();
    let credential = json!({"credential": taken["credential"]});
    let judged = post(&operator, "/api/verifier/verify", &credential);
    assert_eq!(judged["outcome"], "valid", "{judged} {taken}");
    for mode in ["direct_post", "direct_post.jwt"] {
        let asked = json!({
            "type": "driving-licence", "claims": [["family_name"], ["age_over_21"]],
            "client_id_prefix": "decentralized_identifier", "response_mode": mode,
        });
        let request = post(&operator, "/api/verifier/requests", &asked);
        holder.tell(&json!({"request": request["uri"]}));
        let answered = holder.hear();
        assert_eq!(answered["status"], 200, "{answered}");
        let path = format!("/api/verifier/requests/{}", request["id"].as_str().unwrap());
        let status = operator.send("GET", &path, None).unwrap().json();
        assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
    }
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn their_wallet_gets_a_credential_encrypted_by_our_issuer() {
    let (_folder, instance) = issuing("encryption = \"required\"");
    let new = json!({"type": "immunization", "examples": true});
    let offer = post(&instance.operator(), "/api/issuer/offers", &new);
    let taking = json!({"offer": offer["uri"], "encrypted": true});
    let taken = Peer::start("holder", &taking).hear();
    let credential = json!({"credential": taken["credential"]});
    let judged = post(&instance.operator(), "/api/verifier/verify", &credential);
    assert_eq!(judged["outcome"], "valid", "{judged} {taken}");
}

/// An instance of ours with this setting of its issuer.
fn issuing(setting: &str) -> (tempfile::TempDir, Instance) {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("selfsame.toml");
    std::fs::write(&settings, format!("[issuer]\n{setting}\n")).unwrap();
    let arguments = ["--config", settings.to_str().unwrap()];
    let mut instance = Instance::start(&folder.path().join("data"), free_port(), &arguments);
    instance.ready();
    (folder, instance)
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn their_wallet_waits_for_an_approval_and_then_has_the_credential() {
    let (_folder, instance) = issuing("approval = \"by_offer\"");
    let operator = instance.operator();
    let new = json!({"type": "immunization", "examples": true, "needs_approval": true});
    for decision in ["approve", "refuse"] {
        let offer = post(&operator, "/api/issuer/offers", &new);
        let mut holder = Peer::start("holder", &json!({"offer": offer["uri"]}));
        let first = holder.hear();
        assert_eq!(first["waits"]["interval"], 60, "{first}");
        holder.tell(&json!({"look": 1}));
        assert_eq!(holder.hear(), first);
        let waiting = operator.send("GET", "/api/issuer/approvals", None).unwrap();
        let id = waiting.json()["items"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let path = format!("/api/issuer/approvals/{id}/{decision}");
        post(&operator, &path, &json!({}));
        holder.tell(&json!({"look": 2}));
        let taken = holder.hear();
        match decision {
            "approve" => {
                let credential = json!({"credential": taken["credential"]});
                let judged = post(&operator, "/api/verifier/verify", &credential);
                assert_eq!(judged["outcome"], "valid", "{judged} {taken}");
            }
            _ => assert!(
                taken.to_string().contains("credential_request_denied"),
                "{taken}"
            ),
        }
    }
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross openid4vc runs it"]
fn their_wallet_takes_what_our_issuer_offers_and_shows_it_to_our_verifier() {
    let (_folder, instance) = started(&[]);
    let operator = instance.operator();
    let new = json!({"type": "immunization", "examples": true});
    let offer = post(&operator, "/api/issuer/offers", &new);
    let mut holder = Peer::start("holder", &json!({"offer": offer["uri"]}));
    let taken = holder.hear();
    assert_eq!(taken["version"], "V1", "{taken}");
    let issuer = taken["issuer"].as_str().unwrap();
    assert!(issuer.starts_with("did:jwk:"), "{issuer}");
    let credential = json!({"credential": taken["credential"]});
    let judged = post(&operator, "/api/verifier/verify", &credential);
    assert_eq!(judged["outcome"], "valid", "{judged}");
    let again = Peer::start("holder", &json!({"offer": offer["uri"]})).hear();
    assert!(again["failed"].is_string(), "{again}");

    let mut asks = |prefix: &str, further: Value| {
        let mut asked = json!({"type": "immunization", "client_id_prefix": prefix});
        let further = further.as_object().unwrap().clone();
        asked.as_object_mut().unwrap().extend(further);
        let mode = asked["response_mode"]
            .as_str()
            .unwrap_or("direct_post")
            .to_owned();
        let request = post(&operator, "/api/verifier/requests", &asked);
        holder.tell(&json!({"request": request["uri"]}));
        assert_eq!(
            holder.hear(),
            json!({"prefix": prefix, "status": 200, "mode": mode})
        );
        let path = format!("/api/verifier/requests/{}", request["id"].as_str().unwrap());
        let status = operator.send("GET", &path, None).unwrap().json();
        status["verdict"]["outcome"].clone()
    };
    let mut show = |prefix: &str| asks(prefix, json!({}));
    assert_eq!(show("decentralized_identifier"), "valid");
    assert_eq!(show("redirect_uri"), "valid");
    let encrypted = json!({"response_mode": "direct_post.jwt"});
    assert_eq!(asks("decentralized_identifier", encrypted.clone()), "valid");
    assert_eq!(asks("redirect_uri", encrypted), "valid");
    let payment = json!({
        "type": "urn:selfsame:transaction:payment",
        "payee": "Harbour Shop", "amount": "12.50", "currency": "EUR",
    });
    let agreed = json!({"transaction_data": [payment]});
    assert_eq!(asks("decentralized_identifier", agreed), "valid");
    let mut show = |prefix: &str| asks(prefix, json!({}));
    let issued = operator
        .send("GET", "/api/issuer/credentials", None)
        .unwrap();
    let id = issued.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let revoked = json!({"status": "revoked"});
    let path = format!("/api/issuer/credentials/{id}/status");
    let reply = operator.send("PUT", &path, Some(&revoked)).unwrap();
    assert!(reply.is_success());
    // The verifier's cached list may be five seconds old.
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(show("decentralized_identifier"), "revoked");
}
