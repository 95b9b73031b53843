//! What the log may never contain: an instance logs at the highest level while everything happens once, then each
//! secret and each claim is searched for in its log.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of a process measures real time and opens its own connections"
)]
#![allow(
    dead_code,
    reason = "the support is shared, and each test uses its part of it"
)]

#[path = "support/http.rs"]
mod http;
#[path = "support/instance.rs"]
mod instance;

use serde_json::{Value, json};
use url::Url;

use http::{Api, Request};
use instance::{Instance, free_port};

const PASSWORD: &str = "a long walk in the rain";
const EMAIL: &str = "rosa.beispiel@example.org";

const TRANSACTION_CODE: &str = "transaction code";
/// Number of codes in the test, since each has only six digits.
const CODES: usize = 5;

/// Values that must not be found, each with its name.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn add(&mut self, name: &'static str, secret: &Value) -> String {
        let secret = secret
            .as_str()
            .unwrap_or_else(|| panic!("no {name}: {secret}"));
        assert!(secret.len() > 3, "{name} is too short to look for");
        self.0.push((name, secret.to_owned()));
        secret.to_owned()
    }
}

fn call(api: &Api, method: &'static str, path: &str, body: &Value) -> Value {
    let body = (!body.is_null()).then_some(body);
    let reply = api.send(method, path, body).unwrap();
    assert!(
        reply.is_success(),
        "{path}: {} {}",
        reply.status,
        reply.json()
    );
    reply.json()
}

fn post(api: &Api, path: &str, body: &Value) -> Value {
    call(api, "POST", path, body)
}

/// The value of a cookie that an answer sets.
fn cookie(reply: &http::Reply) -> Value {
    let set = reply.header("set-cookie").unwrap_or_default();
    let value = set.split(';').next().and_then(|pair| pair.split_once('='));
    json!(value.map(|(_, value)| value))
}

/// The value after `name=` in a link.
fn parameter(link: &str, name: &str) -> Value {
    let link = Url::parse(link).unwrap();
    let found = link.query_pairs().find(|(known, _)| known == name);
    json!(found.map(|(_, value)| value))
}

fn last_segment(link: &Value) -> Value {
    json!(link.as_str().and_then(|link| link.rsplit('/').next()))
}

/// A foreign wallet redeems an offer until it has an access token and a nonce.
fn redeem(anybody: &Api, offer: &Value, secrets: &mut Secrets) {
    let offered = parameter(offer["uri"].as_str().unwrap(), "credential_offer");
    let offered: Value = serde_json::from_str(offered.as_str().unwrap()).unwrap();
    let grant = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
    let code = secrets.add(
        "pre-authorized code",
        &offered["grants"][grant]["pre-authorized_code"],
    );
    let tx_code = secrets.add(TRANSACTION_CODE, &offer["tx_code"]);
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", grant)
        .append_pair("pre-authorized_code", &code)
        .append_pair("tx_code", &tx_code)
        .finish();
    let metadata = call(
        anybody,
        "GET",
        "/.well-known/oauth-authorization-server/issuer",
        &Value::Null,
    );
    let endpoint = Url::parse(metadata["token_endpoint"].as_str().unwrap()).unwrap();
    let token = Request::new("POST", &endpoint)
        .body("application/x-www-form-urlencoded", form)
        .send()
        .unwrap()
        .json();
    secrets.add("access token", &token["access_token"]);
}

/// Everything once: an operator's sign-in, a person, an offer, a card, a presentation, a verdict, a revocation.
fn walk(instance: &Instance, secrets: &mut Secrets) {
    let operator = instance.operator();
    let anybody = operator.with_token("");
    let token = std::fs::read_to_string(instance.token_file()).unwrap();
    let token = secrets.add("operator token", &json!(token.trim()));
    let signed_in = anybody
        .send("GET", &format!("/operator/sign-in?token={token}"), None)
        .unwrap();
    secrets.add("operator session", &cookie(&signed_in));

    secrets.add("password", &json!(PASSWORD));
    secrets.add("e-mail address", &json!(EMAIL));
    let who = json!({"email": EMAIL, "password": PASSWORD});
    let session = post(&anybody, "/api/wallet/register", &who);
    let session = secrets.add("session", &session["token"]);
    let person = anybody.with_token(&session);
    let wrong = json!({"email": EMAIL, "password": "a password that is wrong"});
    secrets.add("wrong password", &wrong["password"]);
    anybody
        .send("POST", "/api/wallet/sessions", Some(&wrong))
        .unwrap();

    let offers = "/api/issuer/offers";
    let coded = json!({"type": "prescription", "examples": true, "tx_code": true});
    for _ in 0..CODES {
        redeem(&anybody, &post(&operator, offers, &coded), secrets);
    }
    let offer = post(
        &operator,
        offers,
        &json!({"type": "immunization", "examples": true, "by_reference": true}),
    );
    let reference = parameter(offer["uri"].as_str().unwrap(), "credential_offer_uri");
    secrets.add("offer's address", &last_segment(&reference));
    let link = json!({"offer": offer["uri"]});
    post(&person, "/api/wallet/offers/preview", &link);
    post(&person, "/api/wallet/offers/accept", &link);
    post_refused(&person, "/api/wallet/offers/accept", &link);
    for claim in ["Musterfrau", "1990-01-01", "TEST-LOT-0041", "2026-03-23"] {
        secrets.add("claim", &json!(claim));
    }

    let asked = json!({"type": "immunization", "same_device": true});
    let request = post(&operator, "/api/verifier/requests", &asked);
    secrets.add("browser's binding", &request["browser_binding"]);
    let link = json!({"request": request["uri"]});
    post(&person, "/api/wallet/requests/preview", &link);
    let answer = json!({"request": request["uri"], "policy": "newest"});
    let answered = post(&person, "/api/wallet/requests/answer", &answer);
    let back = answered["redirect_uri"].as_str().unwrap();
    secrets.add("response code", &parameter(back, "response_code"));
    post_refused(&person, "/api/wallet/requests/answer", &answer);
    let path = format!("/api/verifier/requests/{}", request["id"].as_str().unwrap());
    let status = call(&operator, "GET", &path, &Value::Null);
    assert_eq!(status["verdict"]["outcome"], "valid");

    let issued = call(&operator, "GET", "/api/issuer/credentials", &Value::Null);
    let id = issued["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/issuer/credentials/{id}/status");
    call(&operator, "PUT", &path, &json!({"status": "revoked"}));
    let nonsense = json!({"credential": "eyJ.Musterfrau.x"});
    post_refused(&operator, "/api/verifier/verify", &nonsense);
}

fn post_refused(api: &Api, path: &str, body: &Value) {
    let reply = api.send("POST", path, Some(body)).unwrap();
    assert!(!reply.is_success(), "{path} took {body}");
}

#[test]
fn no_secret_and_no_claim_is_ever_logged_even_when_all_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut instance = Instance::start_in(&[("SELFSAME_LOG", "trace")], &data, free_port(), &[]);
    instance.ready();
    let mut secrets = Secrets::default();
    walk(&instance, &mut secrets);
    let log = instance.log();
    assert!(
        log.contains("TRACE") && log.contains("status changed"),
        "this is not a log of everything:\n{log}"
    );
    let finds = |secret: &str| log.lines().find(|line| line.contains(secret));
    let (codes, others): (Vec<_>, Vec<_>) = secrets
        .0
        .iter()
        .partition(|(name, _)| *name == TRANSACTION_CODE);
    for (name, secret) in others {
        assert_eq!(finds(secret), None, "the log holds the {name}");
    }
    // A few digits may occur in a time or a number by chance; a logged secret would occur for all codes.
    assert_eq!(codes.len(), CODES);
    assert!(
        codes.iter().any(|(_, code)| finds(code).is_none()),
        "the log holds the transaction codes"
    );
}

#[test]
fn each_credential_that_is_issued_has_a_line_in_the_log_without_its_claims() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut instance = Instance::start_in(&[], &data, free_port(), &[]);
    instance.ready();
    walk(&instance, &mut Secrets::default());
    let operator = instance.operator();
    let listed = call(&operator, "GET", "/api/issuer/credentials", &Value::Null);
    let log = instance.log();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let issued: Vec<Value> = lines
        .filter(|line: &Value| line["fields"]["message"] == "issued")
        .collect();
    let items = listed["items"].as_array().unwrap();
    assert!(!items.is_empty());
    assert_eq!(issued.len(), items.len(), "{log}");
    for one in items {
        let its = |line: &&Value| line["fields"]["credential"] == one["id"];
        let line = issued.iter().find(its).expect("a line for each");
        assert_eq!(line["level"], "INFO");
        let told = line["fields"].as_object().unwrap();
        let names: Vec<&String> = told.keys().collect();
        let wanted = ["credential", "format", "message", "type"];
        assert_eq!(names, wanted);
        for name in ["format", "type"] {
            assert_eq!(told[name], one[name], "{name}");
        }
    }
}

#[test]
fn a_level_that_is_not_understood_is_said_and_the_instance_serves() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let said = [("SELFSAME_LOG", "selfsame=loud")];
    let mut instance = Instance::start_in(&said, &data, free_port(), &[]);
    instance.ready();
    let log = instance.log();
    assert!(log.contains("SELFSAME_LOG is invalid"), "{log}");
}
