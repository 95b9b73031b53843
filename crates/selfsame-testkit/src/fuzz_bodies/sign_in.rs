//! What clients send to an OpenID provider.

use std::sync::OnceLock;

use selfsame_crypto::jws::Unsigned;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey};
use selfsame_oauth::Form;
use selfsame_oauth::dpop::{self, DpopRequest};
use selfsame_oauth::jwt::JwtTime;
use selfsame_oauth::jwt::VerificationKeys;
use selfsame_oauth::request_object::{RequestObject, RequestObjectRules};
use selfsame_oidc::{
    AuthorizationRequest, ClientRegistration, Preset, ProviderRules, RelyingParty, RequestRefusal,
};
use serde_json::{Value, json};
use url::Url;

use super::parts;

const NOW: UnixTime = UnixTime(1_800_000_000);
const URI: &str = "https://rp.example/cb?a=b";
const TOKEN: &str = "https://op.example/oidc/token";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const SCOPES: &str = "openid profile records";

/// The parameters of an authorization request.
pub fn authorization_request(data: &[u8]) -> bool {
    let rules = ProviderRules::of(Preset::Strict);
    let registration = ClientRegistration {
        scope: Some(SCOPES.to_owned()),
        ..ClientRegistration::web(URI)
    };
    let Ok(client) = RelyingParty::parse("rp", &registration, &rules) else {
        return false;
    };
    let Ok(form) = Form::parse(data) else {
        return false;
    };
    match AuthorizationRequest::parse(form, &client, &rules) {
        Ok(request) => {
            assert_eq!(request.redirect_uri, URI);
            assert!(request.challenge.is_some() && !request.scope.is_empty());
            assert!(request.scope.iter().all(|one| SCOPES.contains(one)));
            let question = request.question(&client);
            assert!(question.essential.is_disjoint(&question.voluntary));
            let kept = serde_json::to_vec(&request).unwrap_or_default();
            let read = serde_json::from_slice::<AuthorizationRequest>(&kept);
            assert_eq!(read.ok(), Some(request));
            true
        }
        Err(RequestRefusal::Returned(returned)) => {
            assert_eq!(returned.redirect_uri, URI);
            false
        }
        Err(RequestRefusal::Shown(_)) => false,
    }
}

/// The type and the claims of a DPoP proof, signed by its key.
pub fn dpop_proof(data: &[u8]) -> bool {
    let mut parts = parts(data);
    let (Some(typ), Some(claims)) = (parts.next(), parts.next()) else {
        return false;
    };
    let header = json!({
        "typ": String::from_utf8_lossy(typ), "alg": "EdDSA",
        "jwk": key().public().to_jwk().to_value()
    });
    let Ok(url) = Url::parse(TOKEN) else {
        return false;
    };
    let request = DpopRequest {
        method: "POST",
        url: &url,
        access_token: None,
        now: NOW,
        age: 60,
    };
    let Ok(proven) = dpop::check(&signed(&header, claims), &request, None) else {
        return false;
    };
    let claims: Value = serde_json::from_slice(claims).unwrap_or_default();
    assert_eq!(claims["htm"], "POST");
    assert!(claims["jti"].as_str().is_some_and(|jti| !jti.is_empty()));
    assert!(proven.spent.expires > NOW);
    assert_eq!(proven.thumbprint.len(), 43);
    true
}

/// The claims of a request object, signed by the client's key.
pub fn request_object(data: &[u8]) -> bool {
    let header = json!({"typ": "oauth-authz-req+jwt", "alg": "EdDSA"});
    let Ok(object) = RequestObject::parse(&signed(&header, data)) else {
        return false;
    };
    let rules = RequestObjectRules {
        client_id: "rp",
        issuer: "https://op.example/oidc",
        algorithms: &[Algorithm::EdDsa],
        time: JwtTime {
            now: NOW,
            leeway: 10,
            longest: 3_600,
        },
        needs_times: false,
    };
    let keys = VerificationKeys::of(vec![key().public().to_jwk()]);
    let Ok(signed) = object.verify(&keys, &rules) else {
        return false;
    };
    assert_eq!(signed.form.get("client_id"), Some("rp"));
    for name in ["request", "request_uri", "iss", "aud", "exp"] {
        assert!(!signed.form.has(name));
    }
    true
}

fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| PrivateKey::generate(KeyType::Ed25519).expect("the system has randomness"))
}

fn signed(header: &Value, claims: &[u8]) -> String {
    let draft = Unsigned::with_payload_bytes(header, claims);
    let signature = key().sign(draft.signing_input());
    draft.finish(&signature.unwrap_or_default())
}

pub(super) fn authorization_request_seeds() -> Vec<Vec<u8>> {
    let uri = "redirect_uri=https%3A%2F%2Frp.example%2Fcb%3Fa%3Db";
    let needed = format!(
        "client_id=rp&response_type=code&{uri}&code_challenge={CHALLENGE}&code_challenge_method=S256"
    );
    let claims = "claims=%7B%22userinfo%22%3A%7B%22name%22%3A%7B%22essential%22%3Atrue%7D%7D%7D";
    [
        format!("{needed}&scope=openid"),
        format!("{needed}&scope=openid+profile+records&state=s&nonce=n&{claims}"),
        format!("{needed}&scope=openid&prompt=login&max_age=60&ui_locales=fr+en&acr_values=phr"),
        format!("{needed}&scope=openid&response_mode=form_post&login_hint=a%40b.example"),
    ]
    .map(String::into_bytes)
    .into()
}

pub(super) fn dpop_proof_seeds() -> Vec<Vec<u8>> {
    let claims = json!({"htm": "POST", "htu": TOKEN, "iat": NOW.0, "jti": "a", "nonce": "b"});
    let other =
        json!({"htm": "POST", "htu": format!("{TOKEN}?a#b"), "iat": NOW.0 - 59, "jti": "c"});
    [claims, other]
        .map(|claims| format!("dpop+jwt\0{claims}").into_bytes())
        .into()
}

pub(super) fn request_object_seeds() -> Vec<Vec<u8>> {
    let small = json!({"client_id": "rp", "aud": "https://op.example/oidc"});
    let full = json!({
        "iss": "rp", "client_id": "rp", "aud": ["https://op.example/oidc"], "exp": NOW.0 + 60,
        "nbf": NOW.0, "jti": "a", "scope": "openid", "max_age": 60, "claims": {"userinfo": {}}
    });
    [small, full]
        .map(|claims| claims.to_string().into_bytes())
        .into()
}
