//! An issuer, a wallet and a verifier that keep HAIP 1.0, over a socket: from the pushed request to what the wallet says of
//! its card, and from a request to its verdict. The others take the place of the wallet.

use http::StatusCode;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd,
};
use selfsame_app::config::Config;
use selfsame_attester::{AttestationConfig, AttesterConfig};
use selfsame_core::config::TrustConfig;
use selfsame_core::events::EventKind;
use selfsame_crypto::SecretString;
use selfsame_haip::WantedProfile;
use selfsame_openid::config::{IssuerConfig, VerifierConfig};
use selfsame_openid4vc::wire::signed_metadata::SignedMetadata;
use selfsame_wallet::config::{WalletConfig, WantedMetadata};
use serde_json::{Value, json};
use url::Url;

use super::by_sign_in::{Desk, object, read};
use super::instance::{Answered, form, get, post};

const METADATA: &str = "/.well-known/openid-credential-issuer/issuer";
const PRE_AUTHORIZED: &str = "urn:ietf:params:oauth:grant-type:pre-authorized_code";

/// An authority that certifies all three roles.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        let name = "Test authority";
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self {
            pem: params.self_signed(&key).unwrap().pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// The certificate for this name, and its key.
    fn certify(&self, name: SanType) -> (Option<String>, Option<SecretString>) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.subject_alt_names = vec![name];
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2090, 12, 31);
        let chain = params.signed_by(&key, &self.issuer).unwrap().pem();
        (Some(chain), Some(SecretString::from(key.serialize_pem())))
    }
}

fn uri(url: &Url) -> SanType {
    SanType::URI(url.as_str().try_into().unwrap())
}

fn dns(name: &str) -> SanType {
    SanType::DnsName(name.try_into().unwrap())
}

/// The settings of three roles that keep the profile, certified by one authority.
fn keeping(origin: &Url, config: Config) -> Config {
    let authority = Authority::new();
    let anchors = vec![authority.pem.clone()];
    let profiled = IssuerConfig::haip();
    let (certificate, certificate_key) = authority.certify(uri(&origin.join("issuer").unwrap()));
    let issuer = IssuerConfig {
        certificate,
        certificate_key,
        notifications: true,
        attestation: AttestationConfig {
            attesters: vec![AttesterConfig {
                certificates: anchors.clone(),
                ..AttesterConfig::default()
            }],
            ..profiled.attestation.clone()
        },
        ..profiled
    };
    let (certificate, certificate_key) = authority.certify(dns("localhost"));
    let verifier = VerifierConfig {
        certificate,
        certificate_key,
        ..VerifierConfig::haip()
    };
    let (certificate, certificate_key) = authority.certify(uri(origin));
    let wallet = WalletConfig {
        profile: Some(WantedProfile::Haip),
        signed_metadata: WantedMetadata::Required,
        certificate,
        certificate_key,
        ..WalletConfig::default()
    };
    Config {
        issuer,
        verifier,
        wallet,
        trust: TrustConfig {
            certificates: anchors,
            ..config.trust
        },
        ..config
    }
}

async fn desk() -> Desk {
    let wallet = ("wallets", "attest_jwt_client_auth");
    Desk::configured(wallet, "localhost", keeping).await
}

fn refused(answer: &Answered, status: StatusCode, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert!(answer.body.contains(code), "{}", answer.body);
}

async fn received(desk: &Desk) -> Value {
    let offer = desk.offer().await;
    let link = offer["uri"].as_str().unwrap();
    assert!(link.starts_with("haip-vci://"), "{link}");
    let url = desk.begin(&offer).await;
    assert!(url.query().unwrap().contains("request_uri="), "{url}");
    let back = desk.sign_in(&url).await;
    read(&desk.come_back(&back).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn three_roles_by_the_profile_issue_keep_show_and_verify_a_credential() {
    let desk = desk().await;
    let cards = received(&desk).await;
    assert_eq!(cards["items"].as_array().unwrap().len(), 1, "{cards}");
    let events = desk.instance.app.events();
    for _ in 0..1_200 {
        if events.count(EventKind::WalletAccepted) == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(events.count(EventKind::WalletAccepted), 1);

    let new = json!({"type": "staff", "claims": [["name"]]});
    let asked = desk.operator("/api/verifier/requests", &new).await;
    let link = asked["uri"].as_str().unwrap();
    assert!(link.starts_with("haip-vp://"), "{link}");
    assert!(link.contains("client_id=x509_hash%3A"), "{link}");
    let answer = json!({"request": link, "policy": "newest"});
    let told = read(&desk.wallet("/api/wallet/requests/answer", &answer).await);
    assert_eq!(told["delivered"], true, "{told}");
    let path = format!("/api/verifier/requests/{}", asked["id"].as_str().unwrap());
    let status = get(&path).bearer(&desk.instance.token);
    let status = read(&desk.call(status).await);
    assert_eq!(status["verdict"]["outcome"], "valid", "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_asks_by_the_profile_and_the_wallet_reads_its_request() {
    let desk = desk().await;
    let new = json!({"type": "staff", "claims": [["name"]]});
    let asked = desk.operator("/api/verifier/requests", &new).await;
    let id = asked["id"].as_str().unwrap();
    for protocol in [
        "openid4vp-v1-unsigned",
        "openid4vp-v1-signed",
        "openid4vp-v1-multisigned",
    ] {
        let path = format!("/api/verifier/requests/{id}/browser?protocol={protocol}");
        let made = read(&desk.call(get(&path).bearer(&desk.instance.token)).await);
        let data = &made["requests"][0]["data"];
        if let Some(signatures) = data["request"]["signatures"].as_array() {
            assert_eq!(signatures.len(), 1, "by x509_hash alone: {data}");
        }
        let message = json!({
            "origin": desk.origin.origin().ascii_serialization(),
            "protocol": protocol,
            "data": data,
        });
        let seen = desk.wallet("/api/wallet/requests/browser", &message).await;
        let seen = read(&seen);
        assert!(seen["id"].is_string(), "{protocol}: {seen}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metadata_are_signed_for_those_who_ask_and_have_a_scope_for_each_credential() {
    let desk = desk().await;
    let plain = desk.call(get(METADATA)).await;
    assert_eq!(plain.header("content-type"), "application/json");
    assert_eq!(plain.header("vary"), "Accept");
    let told = read(&plain);
    let configurations = told["credential_configurations_supported"].as_object();
    let configurations = configurations.unwrap();
    // The samples have no scope, so that they are not among them.
    assert_eq!(configurations.len(), 1, "{configurations:?}");
    for one in configurations.values() {
        assert_eq!(
            (&one["scope"], &one["format"]),
            (&json!("staff"), &json!("dc+sd-jwt"))
        );
        for kind in ["jwt", "attestation"] {
            let proof = &one["proof_types_supported"][kind];
            assert_eq!(proof["key_attestations_required"], json!({}), "{one}");
        }
    }
    assert!(told["nonce_endpoint"].is_string());
    let wish = get(METADATA).header("accept", "application/jwt, application/json;q=0.5");
    let signed = desk.call(wish).await;
    assert_eq!(signed.header("content-type"), "application/jwt");
    assert_eq!(signed.header("vary"), "Accept");
    let now = desk.instance.app.clock().now();
    let issuer = told["credential_issuer"].as_str().unwrap();
    let signed = SignedMetadata::read(signed.body.as_bytes(), issuer, now).unwrap();
    assert_eq!(signed.x5c().unwrap().len(), 1);
    let document: Value = serde_json::from_slice(&signed.into_document()).unwrap();
    assert_eq!(document["credential_endpoint"], told["credential_endpoint"]);
    for wish in [
        "*/*",
        "application/json",
        "text/html",
        "application/jwt;q=0",
    ] {
        let answer = desk.call(get(METADATA).header("accept", wish)).await;
        assert_eq!(answer.header("content-type"), "application/json", "{wish}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_without_a_certificate_signs_no_metadata() {
    let desk = desk().await;
    let new = json!({"name": "acme", "title": "Acme Corporation"});
    desk.operator("/api/organisations", &new).await;
    let path = "/.well-known/openid-credential-issuer/o/acme";
    let answer = desk
        .call(get(path).header("accept", "application/jwt"))
        .await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("vary"), "Accept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_was_offered_is_redeemed_by_an_attested_wallet_with_a_key_alone() {
    let desk = desk().await;
    let claims = json!({"name": "Maja Lind", "mail": "maja@example.org"});
    let new = json!({"type": "staff", "claims": claims});
    let offer = desk.operator("/api/issuer/offers", &new).await;
    let code = &object(&offer)["grants"][PRE_AUTHORIZED]["pre-authorized_code"];
    let redemption = form(&[
        ("grant_type", PRE_AUTHORIZED),
        ("pre-authorized_code", code.as_str().unwrap()),
    ]);
    let token = || post("/issuer/token").form(redemption.clone());
    let unbound = desk.call(token()).await;
    refused(&unbound, StatusCode::BAD_REQUEST, "invalid_dpop_proof");
    // RFC 6749 §5.2 allows no sign of a paragraph in a description.
    let demand =
        "HAIP 1.0 section 4 demands access tokens that are bound to a key (DPoP, RFC 9449)";
    assert!(unbound.body.contains(demand), "{}", unbound.body);
    let nameless = desk.call(token().header("dpop", "a.b.c")).await;
    refused(&nameless, StatusCode::UNAUTHORIZED, "invalid_client");
    let server = get("/.well-known/oauth-authorization-server/issuer");
    let server = read(&desk.call(server).await);
    let proofs = server["dpop_signing_alg_values_supported"].to_string();
    assert!(proofs.contains("ES256"), "{server}");
    // Our wallet takes offers for people who sign in alone.
    let accept = json!({"offer": offer["uri"]});
    let told = desk.wallet("/api/wallet/offers/accept", &accept).await;
    assert!(told.body.contains("HAIP 1.0 §4.2"), "{}", told.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_access_token_without_its_key_gets_nothing() {
    let desk = desk().await;
    for path in ["/issuer/credential", "/issuer/notification"] {
        let call = post(path).bearer("anything").json("{}");
        let answer = desk.call(call).await;
        refused(&answer, StatusCode::UNAUTHORIZED, "invalid_token");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_nobody_gets_by_signing_in_is_not_offered() {
    let desk = desk().await;
    let new = json!({"type": "immunization", "examples": true}).to_string();
    let sent = post("/api/issuer/offers").bearer(&desk.instance.token);
    let answer = desk.call(sent.json(&new)).await;
    refused(&answer, StatusCode::BAD_REQUEST, "HAIP 1.0 §4.1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_by_the_profile_asks_in_no_other_way() {
    let desk = desk().await;
    let asked = async |change: Value| {
        let mut new = json!({"type": "staff", "claims": [["name"]]});
        let change = change.as_object().unwrap().clone();
        new.as_object_mut().unwrap().extend(change);
        let sent = post("/api/verifier/requests").bearer(&desk.instance.token);
        desk.call(sent.json(&new.to_string())).await
    };
    for (change, paragraph) in [
        (json!({"client_id_prefix": "redirect_uri"}), "§5 "),
        (json!({"client_id_prefix": "x509_san_dns"}), "§5 "),
        (json!({"response_mode": "direct_post"}), "§5.1"),
        (json!({"format": "vc+jwt"}), "§5.3"),
    ] {
        let answer = asked(change).await;
        let told = format!("HAIP 1.0 {paragraph}");
        refused(&answer, StatusCode::BAD_REQUEST, &told);
    }
    assert!(asked(json!({})).await.status.is_success());
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_of_other_origins_may_read_the_nonce_for_the_next_proof() {
    let desk = desk().await;
    let nonce = desk.call(post("/issuer/nonce")).await;
    assert!(!nonce.header("dpop-nonce").is_empty());
    let exposed = nonce.header("access-control-expose-headers");
    assert!(exposed.contains("DPoP-Nonce"), "{exposed}");
    let push = post("/oidc/par").form(form(&[("client_id", "selfsame-wallet")]));
    let pushed = desk.call(push.header("dpop", "a.b.c")).await;
    let exposed = pushed.header("access-control-expose-headers");
    assert!(exposed.contains("DPoP-Nonce"), "{exposed}");
}
