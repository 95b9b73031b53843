//! Credentials that need an approval (OpenID4VCI 1.0 §9): a wallet asks and waits, somebody decides, the wallet gets the
//! credential or is told that there is none. Most wallets here are written by hand; the last ones are ours.

use std::time::Duration;

use http::StatusCode;
use selfsame_app::config::Config;
use selfsame_core::events::EventKind;
use selfsame_crypto::{KeyType, PrivateKey, SecretString, jws};
use selfsame_driver::paging::Paging;
use selfsame_oauth::client::possession::ProvenRequest;
use selfsame_openid::config::{IssuerConfig, WantedApproval};
use selfsame_wallet::view::{AcceptOffer, Person};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use url::Url;

use super::by_sign_in::read;
use super::instance::{Answered, Call, Instance, config_of, form, get, opened, post};
use super::pages::check;
use crate::{ServerLimits, ServerSettings, serve};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";
const DAY: u64 = 86_400;

/// An issuer whose credentials can need an approval, listening on this machine.
struct Clinic {
    instance: Instance,
    origin: Url,
}

impl Clinic {
    async fn open() -> Self {
        Self::with(IssuerConfig {
            approval: WantedApproval::ByOffer,
            ..IssuerConfig::default()
        })
        .await
    }

    async fn with(issuer: IssuerConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let opened = opened(Config {
            issuer,
            ..config_of(&format!("http://{host}"))
        })
        .await;
        let (app, settings) = (opened.0.clone(), ServerSettings::default());
        tokio::spawn(serve(listener, app, settings, std::future::pending()));
        Self {
            origin: format!("http://{host}/").parse().unwrap(),
            instance: Instance {
                host,
                ..Instance::of(opened, ServerLimits::default(), false)
            },
        }
    }

    async fn call(&self, call: Call) -> Answered {
        self.instance.call(call.host(self.origin.authority())).await
    }

    async fn get(&self, path: &str) -> Answered {
        self.call(get(path).bearer(&self.instance.token)).await
    }

    async fn post(&self, path: &str, body: &Value) -> Answered {
        let sent = post(path).bearer(&self.instance.token);
        self.call(sent.json(&body.to_string())).await
    }

    /// An offer whose credential needs an approval.
    async fn offer(&self, here: &str) -> Value {
        let new = json!({"type": "immunization", "examples": true, "needs_approval": true, "label": "Room 4"});
        read(&self.post(&format!("{here}/api/issuer/offers"), &new).await)
    }

    /// The requests in a state.
    async fn listed(&self, here: &str, state: &str) -> Vec<Value> {
        let path = format!("{here}/api/issuer/approvals?state={state}");
        let listed = read(&self.get(&path).await);
        listed["items"].as_array().unwrap().clone()
    }

    /// The id of the only request that waits.
    async fn waiting(&self) -> String {
        let listed = self.listed("", "waiting").await;
        assert_eq!(listed.len(), 1, "{listed:?}");
        listed[0]["id"].as_str().unwrap().to_owned()
    }

    async fn decides(&self, id: &str, decision: &str) -> Answered {
        let path = format!("/api/issuer/approvals/{id}/{decision}");
        self.post(&path, &json!({})).await
    }

    fn passes(&self, seconds: u64) {
        self.instance.app.clock().advance(seconds);
    }

    async fn issued(&self) -> usize {
        let issuer = self.instance.app.main().issuer().unwrap();
        let issued = issuer.issued(None, &Paging::default()).await;
        issued.unwrap().items.len()
    }
}

/// A wallet that is written here, and its access token.
struct Holder<'a> {
    clinic: &'a Clinic,
    here: String,
    offer: Value,
    /// The key that its token is bound to.
    key: Option<PrivateKey>,
    token: String,
    lasts: u64,
}

impl<'a> Holder<'a> {
    /// A wallet whose token is bound to its key.
    async fn bound(clinic: &'a Clinic) -> Self {
        let key = PrivateKey::generate(KeyType::P256).unwrap();
        Self::of(clinic, "", Some(key)).await
    }

    async fn unbound(clinic: &'a Clinic) -> Self {
        Self::of(clinic, "", None).await
    }

    async fn of(clinic: &'a Clinic, here: &str, key: Option<PrivateKey>) -> Self {
        let offer = clinic.offer(here).await;
        assert_eq!(offer["needs_approval"], true);
        Self::with(clinic, here, key, &offer).await
    }

    async fn with(clinic: &'a Clinic, here: &str, key: Option<PrivateKey>, offer: &Value) -> Self {
        let link: Url = offer["uri"].as_str().unwrap().parse().unwrap();
        let (_, object) = link.query_pairs().next().unwrap();
        let mut holder = Self {
            clinic,
            here: here.to_owned(),
            offer: serde_json::from_str(&object).unwrap(),
            key,
            token: String::new(),
            lasts: 0,
        };
        let code = holder.offer["grants"][GRANT]["pre-authorized_code"].as_str();
        let body = form(&[
            ("grant_type", GRANT),
            ("pre-authorized_code", code.unwrap()),
        ]);
        let call = post(&holder.path("token")).form(body);
        let call = match holder.proof("token", None) {
            Some(proof) => call.header("dpop", &proof),
            None => call,
        };
        let given = read(&clinic.call(call).await);
        let kind = if holder.key.is_some() {
            "DPoP"
        } else {
            "Bearer"
        };
        assert_eq!(given["token_type"], kind);
        holder.token = given["access_token"].as_str().unwrap().to_owned();
        holder.lasts = given["expires_in"].as_u64().unwrap();
        holder
    }

    fn path(&self, endpoint: &str) -> String {
        format!("{}/issuer/{endpoint}", self.here)
    }

    /// A proof that the key is there.
    fn proof(&self, endpoint: &str, token: Option<&str>) -> Option<String> {
        let key = self.key.as_ref()?;
        let url = self.clinic.origin.join(&self.path(endpoint)).unwrap();
        let token = token.map(|token| SecretString::from(token.to_owned()));
        let request = ProvenRequest {
            method: "POST",
            url: &url,
            access_token: token.as_ref(),
            nonce: None,
        };
        let draft = request.draft(key.public(), &self.clinic.instance.app.clock().ctx());
        let signature = key.sign(draft.signing_input()).unwrap();
        Some(draft.finish(&signature))
    }

    async fn sends(&self, endpoint: &str, token: &str, body: &Value) -> Answered {
        let proof = self.proof(endpoint, Some(token));
        let scheme = if proof.is_some() { "DPoP" } else { "Bearer" };
        let call = post(&self.path(endpoint))
            .header("authorization", &format!("{scheme} {token}"))
            .json(&body.to_string());
        let call = match proof {
            Some(proof) => call.header("dpop", &proof),
            None => call,
        };
        self.clinic.call(call).await
    }

    /// A request for one copy.
    async fn request(&self) -> Value {
        let nonce = read(&self.clinic.call(post(&self.path("nonce"))).await);
        let holder = PrivateKey::generate(KeyType::P256).unwrap();
        let now = self.clinic.instance.app.clock().now().0;
        let proof = jws::Unsigned::new(
            &json!({"typ": "openid4vci-proof+jwt", "alg": "ES256", "jwk": holder.public().to_jwk().to_value()}),
            &json!({"aud": self.offer["credential_issuer"], "iat": now, "nonce": nonce["c_nonce"]}),
        );
        let signature = holder.sign(proof.signing_input()).unwrap();
        json!({
            "credential_configuration_id": self.offer["credential_configuration_ids"][0],
            "proofs": {"jwt": [proof.finish(&signature)]},
        })
    }

    async fn asks(&self, request: &Value) -> Answered {
        self.sends("credential", &self.token, request).await
    }

    /// Asks for the credential; the name of the transaction.
    async fn begins(&self) -> String {
        let deferred = self.asks(&self.request().await).await;
        assert_eq!(deferred.status, StatusCode::ACCEPTED, "{}", deferred.body);
        let deferred = read(&deferred);
        assert_eq!(deferred["interval"], 60);
        deferred["transaction_id"].as_str().unwrap().to_owned()
    }

    async fn looks(&self, transaction: &str) -> Answered {
        let body = json!({ "transaction_id": transaction });
        self.sends("deferred", &self.token, &body).await
    }

    /// The code that a look is refused with.
    async fn refused(&self, transaction: &str) -> (StatusCode, String) {
        let answer = self.looks(transaction).await;
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let code = body["error"].as_str().unwrap_or_default();
        (answer.status, code.to_owned())
    }
}

fn bad_request(code: &str) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, code.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_waits_for_days_and_once_it_is_approved_its_credential_is_given() {
    let clinic = Clinic::open().await;
    let holder = Holder::bound(&clinic).await;
    assert_eq!(holder.lasts, 30 * DAY);
    let request = holder.request().await;
    let first = read(&holder.asks(&request).await);
    let again = read(&holder.asks(&request).await);
    assert_eq!(first, again);
    let transaction = first["transaction_id"].as_str().unwrap();
    let id = clinic.waiting().await;
    assert_ne!(id, transaction);
    let events = clinic.instance.app.events();
    assert_eq!(events.count(EventKind::ApprovalNeeded), 1);
    // Another request with the same token is refused: the decision is about the first.
    let other = holder.asks(&holder.request().await).await;
    assert!(
        other.body.contains("credential_request_denied"),
        "{}",
        other.body
    );
    clinic.passes(3 * DAY);
    let look = holder.looks(transaction).await;
    assert_eq!(look.status, StatusCode::ACCEPTED, "{}", look.body);
    assert_eq!(read(&look), first);
    assert_eq!(clinic.issued().await, 0);
    let approved = read(&clinic.decides(&id, "approve").await);
    assert_eq!(approved["state"], "approved");
    let look = holder.looks(transaction).await;
    assert_eq!(look.status, StatusCode::OK, "{}", look.body);
    let given = read(&look);
    assert_eq!(given["credentials"].as_array().unwrap().len(), 1);
    assert_eq!(clinic.issued().await, 1);
    let listed = clinic.listed("", "issued").await;
    assert_eq!(listed[0]["id"], id.as_str());
    // The answer could have been lost. It is the same one for one more look, and then the name has ended.
    clinic.passes(60);
    assert_eq!(read(&holder.looks(transaction).await), given);
    clinic.passes(61);
    let spent = holder.refused(transaction).await;
    assert_eq!(spent, bad_request("invalid_transaction_id"));
    assert_eq!(clinic.issued().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_refused_gets_no_credential_and_shows_its_claims_no_more() {
    let clinic = Clinic::open().await;
    let holder = Holder::bound(&clinic).await;
    let transaction = holder.begins().await;
    let id = clinic.waiting().await;
    let path = format!("/api/issuer/approvals/{id}");
    let seen = read(&clinic.get(&path).await);
    assert!(seen["claims"]["patient"].is_object(), "{seen}");
    let long = json!({"reason": "x".repeat(501)});
    let refused = clinic.post(&format!("{path}/refuse"), &long).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", refused.body);
    let reason = json!({"reason": "Not a patient of ours."});
    let refused = read(&clinic.post(&format!("{path}/refuse"), &reason).await);
    assert_eq!(refused["state"], "refused");
    assert_eq!(refused["reason"], "Not a patient of ours.");
    let denied = bad_request("credential_request_denied");
    assert_eq!(holder.refused(&transaction).await, denied);
    let late = clinic.decides(&id, "approve").await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    assert_eq!(holder.refused(&transaction).await, denied);
    assert!(read(&clinic.get(&path).await).get("claims").is_none());
    assert!(clinic.listed("", "waiting").await.is_empty());
    let trail = read(&clinic.get("/api/audit").await).to_string();
    for act in ["refuse", "approve"] {
        let act = format!("POST /api/issuer/approvals/{{id}}/{act}");
        assert!(trail.contains(&act), "{act}: {trail}");
    }
    assert_eq!(clinic.issued().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_is_known_to_the_access_token_that_began_it_alone() {
    let clinic = Clinic::open().await;
    let (first, second) = (Holder::bound(&clinic).await, Holder::unbound(&clinic).await);
    let (one, two) = (first.begins().await, second.begins().await);
    assert_ne!(one, two);
    let unknown = bad_request("invalid_transaction_id");
    assert_eq!(first.refused(&two).await, unknown);
    assert_eq!(second.refused(&one).await, unknown);
    assert_eq!(first.refused("8xLOxBtZp8").await, unknown);
    let listed = clinic.listed("", "waiting").await;
    for request in &listed {
        let id = request["id"].as_str().unwrap();
        assert_eq!(first.refused(id).await, unknown);
    }
    let malformed = bad_request("invalid_credential_request");
    let sent = first.sends("deferred", &first.token, &json!({})).await;
    assert_eq!(
        (sent.status, sent.body.contains(&malformed.1)),
        (malformed.0, true)
    );
    let body = json!({"transaction_id": one});
    let foreign = second.sends("deferred", "another", &body).await;
    assert_eq!(foreign.status, StatusCode::UNAUTHORIZED, "{}", foreign.body);
    let bare = post("/issuer/deferred").json(&body.to_string());
    assert_eq!(clinic.call(bare).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(first.looks(&one).await.status, StatusCode::ACCEPTED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_a_key_ends_soon_and_one_that_is_bound_needs_its_key() {
    let clinic = Clinic::open().await;
    let unbound = Holder::unbound(&clinic).await;
    assert_eq!(unbound.lasts, 300);
    let transaction = unbound.begins().await;
    let mut bound = Holder::bound(&clinic).await;
    let waiting = bound.begins().await;
    clinic.passes(301);
    let ended = unbound.looks(&transaction).await;
    assert_eq!(ended.status, StatusCode::UNAUTHORIZED, "{}", ended.body);
    assert!(ended.body.contains("invalid_token"), "{}", ended.body);
    // What waited with it is over too.
    assert_eq!(clinic.listed("", "waiting").await.len(), 1);
    let body = json!({ "transaction_id": waiting });
    let proof = bound.proof("deferred", Some(&bound.token)).unwrap();
    let send = |scheme: &str, proof: Option<&str>| {
        let call = post("/issuer/deferred")
            .header("authorization", &format!("{scheme} {}", bound.token))
            .json(&body.to_string());
        clinic.call(match proof {
            Some(proof) => call.header("dpop", proof),
            None => call,
        })
    };
    assert_eq!(
        send("DPoP", Some(&proof)).await.status,
        StatusCode::ACCEPTED
    );
    for (scheme, proof, code) in [
        ("DPoP", Some(&*proof), "invalid_dpop_proof"),
        ("DPoP", None, "invalid_dpop_proof"),
        ("Bearer", None, "invalid_token"),
    ] {
        let refused = send(scheme, proof).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
        assert!(refused.body.contains(code), "{code}: {}", refused.body);
    }
    let elsewhere = bound.proof("credential", Some(&bound.token)).unwrap();
    let refused = send("DPoP", Some(&elsewhere)).await;
    assert!(
        refused.body.contains("invalid_dpop_proof"),
        "{}",
        refused.body
    );
    bound.key = Some(PrivateKey::generate(KeyType::P256).unwrap());
    let refused = bound.looks(&waiting).await;
    assert!(refused.body.contains("invalid_token"), "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_at_once_one_counts_and_is_told_once() {
    let clinic = Clinic::open().await;
    for _ in 0..8 {
        let holder = Holder::bound(&clinic).await;
        let transaction = holder.begins().await;
        let id = clinic.waiting().await;
        let (yes, no) = tokio::join!(
            clinic.decides(&id, "approve"),
            clinic.decides(&id, "refuse")
        );
        let taken = [&yes, &no].map(|answer| answer.status == StatusCode::OK);
        assert!(taken[0] != taken[1], "{} {}", yes.body, no.body);
        let look = holder.looks(&transaction).await;
        assert_eq!(look.status == StatusCode::OK, taken[0], "{}", look.body);
        let same = if taken[0] { "approve" } else { "refuse" };
        let (one, other) = tokio::join!(clinic.decides(&id, same), clinic.decides(&id, same));
        assert_eq!((one.status, other.status), (StatusCode::OK, StatusCode::OK));
    }
    let events = clinic.instance.app.events();
    let told = [EventKind::ApprovalGiven, EventKind::ApprovalRefused];
    let told: u64 = told.into_iter().map(|kind| events.count(kind)).sum();
    assert_eq!(told, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_looks_at_once_get_one_credential() {
    let clinic = Clinic::open().await;
    let holder = Holder::bound(&clinic).await;
    let transaction = holder.begins().await;
    clinic.decides(&clinic.waiting().await, "approve").await;
    let looks = (0..6).map(|_| holder.looks(&transaction));
    let looks = futures_util::future::join_all(looks).await;
    let given = read(&looks[0]);
    for look in &looks {
        assert_eq!(read(look), given);
    }
    assert_eq!(clinic.issued().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_organisation_has_no_such_request() {
    let clinic = Clinic::open().await;
    let new = json!({"name": "acme", "title": "Acme Corporation"});
    read(&clinic.post("/api/organisations", &new).await);
    let key = PrivateKey::generate(KeyType::P256).unwrap();
    let holder = Holder::of(&clinic, "/o/acme", Some(key)).await;
    let transaction = holder.begins().await;
    assert!(clinic.listed("", "waiting").await.is_empty());
    let listed = clinic.listed("/o/acme", "waiting").await;
    let id = listed[0]["id"].as_str().unwrap();
    let path = format!("/api/issuer/approvals/{id}");
    assert_eq!(clinic.get(&path).await.status, StatusCode::NOT_FOUND);
    for decision in ["approve", "refuse"] {
        let foreign = clinic.decides(id, decision).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{}", foreign.body);
    }
    assert_eq!(
        holder.looks(&transaction).await.status,
        StatusCode::ACCEPTED
    );
    let own = clinic
        .post(&format!("/o/acme{path}/approve"), &json!({}))
        .await;
    assert_eq!(own.status, StatusCode::OK, "{}", own.body);
    assert_eq!(holder.looks(&transaction).await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn clerks_see_what_waits_and_decide_by_forms() {
    let clinic = Clinic::open().await;
    let cookie = clinic.instance.operator_cookie().await;
    let see = async |path: &str| clinic.call(get(path).cookie(&cookie)).await;
    let empty = see("/issuer/approvals").await;
    check("/issuer/approvals", &empty.body);
    assert!(empty.body.contains("No request waits."), "{}", empty.body);
    assert!(
        see("/issuer")
            .await
            .body
            .contains(r#"href="/issuer/approvals""#)
    );
    let form_of_offer = see("/issuer/new/immunization").await.body;
    assert!(form_of_offer.contains(r#"name="needs_approval""#));
    for (decision, looked) in [
        ("approve", StatusCode::OK),
        ("refuse", StatusCode::BAD_REQUEST),
    ] {
        let holder = Holder::bound(&clinic).await;
        let transaction = holder.begins().await;
        let id = clinic.waiting().await;
        let list = see("/issuer/approvals").await;
        check("/issuer/approvals", &list.body);
        assert!(
            list.body
                .contains(&format!(r#"href="/issuer/approvals/{id}""#))
        );
        let path = format!("/issuer/approvals/{id}");
        let page = see(&path).await;
        check(&path, &page.body);
        assert!(
            page.body.contains("Room 4") && page.body.contains("Musterfrau"),
            "{}",
            page.body
        );
        let token = page.form_token();
        let press = async |decision: &str| {
            let fields = form(&[("form_token", token.as_str()), ("reason", "No.")]);
            let sent = post(&format!("{path}/{decision}")).cookie(&cookie);
            clinic.call(sent.form(fields)).await
        };
        assert_eq!(press(decision).await.status, StatusCode::SEE_OTHER);
        assert_eq!(holder.looks(&transaction).await.status, looked);
        let other = if decision == "approve" {
            "refuse"
        } else {
            "approve"
        };
        let late = press(other).await;
        assert_eq!(late.status, StatusCode::CONFLICT);
        assert!(late.body.contains(r#"role="alert""#), "{}", late.body);
    }
    let refused = see("/issuer/approvals?state=refused").await;
    assert!(refused.body.contains("Room 4"), "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offers_own_word_wins_over_the_settings() {
    let metadata = async |clinic: &Clinic, name: &str| {
        let path = format!("/.well-known/{name}/issuer");
        read(&clinic.call(get(&path)).await)
    };
    let without = Clinic::with(IssuerConfig::default()).await;
    let new = json!({"type": "immunization", "examples": true, "needs_approval": true});
    let refused = without.post("/api/issuer/offers", &new).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains("approval"), "{}", refused.body);
    let issuer = metadata(&without, "openid-credential-issuer").await;
    assert!(issuer.get("deferred_credential_endpoint").is_none());
    let by_default = Clinic::with(IssuerConfig {
        approval: WantedApproval::ByDefault,
        ..IssuerConfig::default()
    })
    .await;
    let issuer = metadata(&by_default, "openid-credential-issuer").await;
    let endpoint = by_default.origin.join("issuer/deferred").unwrap();
    assert_eq!(issuer["deferred_credential_endpoint"], endpoint.as_str());
    let server = metadata(&by_default, "oauth-authorization-server").await;
    assert!(
        server["dpop_signing_alg_values_supported"].is_array(),
        "{server}"
    );
    let silent = json!({"type": "immunization", "examples": true});
    let offer = read(&by_default.post("/api/issuer/offers", &silent).await);
    assert_eq!(offer["needs_approval"], true);
    let at_once = json!({"type": "immunization", "examples": true, "needs_approval": false});
    let offer = read(&by_default.post("/api/issuer/offers", &at_once).await);
    assert_eq!(offer["needs_approval"], false);
    let holder = Holder::with(&by_default, "", None, &offer).await;
    let given = holder.asks(&holder.request().await).await;
    assert_eq!(given.status, StatusCode::OK, "{}", given.body);
}

/// A person with a wallet at the clinic, who accepts an offer that needs an approval.
async fn accepted(clinic: &Clinic) -> Person {
    let wallet = clinic.instance.app.wallet().unwrap();
    let password = SecretString::from("correct horse battery".to_owned());
    let accounts = wallet.accounts();
    let session = accounts.register("maja@example.org", password).await;
    let person = accounts.person(&session.unwrap().token).await.unwrap();
    let accept = AcceptOffer {
        offer: clinic.offer("").await["uri"].as_str().unwrap().to_owned(),
        tx_code: None,
        did: None,
        copies: Some(2),
    };
    let told = wallet.accept_offer(&person, &accept).await.unwrap_err();
    assert_eq!(told.reason.id(), "credential-prepared", "{told:?}");
    person
}

/// Lets the wallet look until its history has an entry: what the entry is, and the number of cards.
async fn outcome(clinic: &Clinic, person: &Person) -> (String, usize) {
    let wallet = clinic.instance.app.wallet().unwrap();
    for _ in 0..1_200 {
        let history = wallet.history(person, &Paging::default()).await.unwrap();
        if let Some(entry) = history.items.first() {
            let cards = wallet.cards(person, &Paging::default()).await.unwrap();
            return (entry.what.as_str().to_owned(), cards.items.len());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no entry came into the wallet's history");
}

#[tokio::test(flavor = "multi_thread")]
async fn our_wallet_waits_until_somebody_approves_and_then_has_the_card() {
    for encryption in ["off", "required"] {
        let clinic = Clinic::with(IssuerConfig {
            approval: WantedApproval::ByOffer,
            notifications: true,
            encryption: serde_json::from_value(json!(encryption)).unwrap(),
            ..IssuerConfig::default()
        })
        .await;
        let person = accepted(&clinic).await;
        let id = clinic.waiting().await;
        let seen = read(&clinic.get(&format!("/api/issuer/approvals/{id}")).await);
        assert_eq!(seen["copies"], 2);
        let wallet = clinic.instance.app.wallet().unwrap();
        let before = wallet.prepared(&person, &Paging::default()).await.unwrap();
        clinic.passes(2 * DAY);
        // The wallet has looked, and waits on.
        for _ in 0..1_200 {
            let now = wallet.prepared(&person, &Paging::default()).await.unwrap();
            if now.items[0].next_look != before.items[0].next_look {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(clinic.issued().await, 0);
        read(&clinic.decides(&id, "approve").await);
        clinic.passes(61);
        assert_eq!(outcome(&clinic, &person).await, ("received".to_owned(), 2));
        assert_eq!(clinic.issued().await, 2);
        let events = clinic.instance.app.events();
        for _ in 0..1_200 {
            if events.count(EventKind::WalletAccepted) == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(events.count(EventKind::WalletAccepted), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_wallet_is_told_of_a_refusal() {
    let clinic = Clinic::open().await;
    let person = accepted(&clinic).await;
    read(&clinic.decides(&clinic.waiting().await, "refuse").await);
    clinic.passes(61);
    assert_eq!(outcome(&clinic, &person).await, ("failed".to_owned(), 0));
    assert_eq!(clinic.issued().await, 0);
}
