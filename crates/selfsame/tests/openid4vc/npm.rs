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

    let mut show = |prefix: &str| {
        let asked = json!({"type": "immunization", "client_id_prefix": prefix});
        let request = post(&operator, "/api/verifier/requests", &asked);
        holder.tell(&json!({"request": request["uri"]}));
        assert_eq!(holder.hear(), json!({"prefix": prefix, "status": 200}));
        let path = format!("/api/verifier/requests/{}", request["id"].as_str().unwrap());
        let status = operator.send("GET", &path, None).unwrap().json();
        status["verdict"]["outcome"].clone()
    };
    assert_eq!(show("decentralized_identifier"), "valid");
    assert_eq!(show("redirect_uri"), "valid");
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
