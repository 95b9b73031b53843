//! What callers of eSignet's interface send.

use selfsame_crypto::time::UnixTime;
use selfsame_esignet::{AuthChallenge, ClientRequest, DetailsRequest, details_hash, envelope};
use selfsame_oidc::ClientRegistration;
use serde_json::{Value, json};

const NOW: UnixTime = UnixTime(1_800_000_000);
/// Seconds by which clocks may differ.
const LEEWAY: u64 = 120;
const CLASSES: [&str; 2] = ["mosip:idp:acr:generated-code", "mosip:idp:acr:static-code"];

/// An envelope, whatever its request is; its request as each kind that there is.
pub fn esignet_envelope(data: &[u8]) -> bool {
    let Ok(request) = envelope::request::<Value>(data, NOW) else {
        return false;
    };
    let whole: Value = serde_json::from_slice(data).unwrap_or_default();
    assert_eq!(whole["request"], request);
    let time = whole["requestTime"].as_str();
    let time = time.and_then(UnixTime::parse_rfc3339).unwrap_or_default();
    assert!(time.seconds_since(NOW).max(NOW.seconds_since(time)) <= LEEWAY);
    if let Ok(details) = envelope::request::<DetailsRequest>(data, NOW) {
        check_details(&details);
    }
    if let Ok(client) = envelope::request::<ClientRequest>(data, NOW) {
        check_client(client);
    }
    for challenge in request["challengeList"].as_array().into_iter().flatten() {
        check_challenge(challenge);
    }
    true
}

fn check_details(details: &DetailsRequest) {
    let registered = CLASSES.map(str::to_owned);
    if details.check().is_err() {
        return;
    }
    let Ok(form) = details.form(&registered) else {
        return;
    };
    assert_eq!(form.get("response_type"), Some("code"));
    assert!(form.has("client_id") && form.has("redirect_uri"));
    let classes = form.get("acr_values").unwrap_or_default();
    assert!(classes.split(' ').all(|one| CLASSES.contains(&one)));
    assert_eq!(
        form.has("code_challenge"),
        form.get("code_challenge_method") == Some("S256")
    );
}

fn check_client(client: ClientRequest) {
    let mut registration = ClientRegistration::default();
    if client.apply(&mut registration).is_err() {
        return;
    }
    assert!(registration.redirect_uris.len() <= 5);
    let method = registration.token_endpoint_auth_method.as_deref();
    assert!(matches!(method, None | Some("private_key_jwt")));
    let mut classes = registration.default_acr_values.iter();
    assert!(classes.all(|one| one.starts_with("mosip:idp:acr:")));
    let names = registration.other.keys();
    let mut languages = names.filter_map(|name| name.strip_prefix("client_name#"));
    assert!(languages.all(|one| one.len() == 3 && details_hash::is_stable(one)));
}

fn check_challenge(challenge: &Value) {
    let read = serde_json::from_value::<AuthChallenge>(challenge.clone());
    let Some(Ok(read)) = read.ok().map(AuthChallenge::read) else {
        return;
    };
    assert_eq!(Some(read.value.expose()), challenge["challenge"].as_str());
    assert!((1..=200_000).contains(&read.value.expose().len()));
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let details = json!({
        "clientId": "rp", "scope": "openid profile", "responseType": "code",
        "redirectUri": "https://rp.example/cb", "display": "page", "prompt": "consent",
        "nonce": "n", "state": "s", "acrValues": "mosip:idp:acr:generated-code", "maxAge": 60,
        "claims": {"userinfo": {"name": {"essential": true}}, "id_token": {"acr": {"values": ["a"]}}},
        "claimsLocales": "en", "uiLocales": "en", "codeChallenge": "c", "codeChallengeMethod": "S256"
    });
    let client = json!({
        "clientId": "rp", "clientName": "A", "clientNameLangMap": {"fra": "B"},
        "publicKey": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
        "relyingPartyId": "party", "userClaims": ["name", "email"], "authContextRefs": CLASSES,
        "logoUri": "https://rp.example/logo.png", "redirectUris": ["https://rp.example/**"],
        "grantTypes": ["authorization_code"], "clientAuthMethods": ["private_key_jwt"],
        "status": "ACTIVE", "additionalConfig": {"userinfo_response_type": "JWS"}
    });
    let proof = json!({
        "transactionId": "t", "individualId": "8267411072", "challengeList": [
            {"authFactorType": "OTP", "challenge": "111111", "format": "alpha-numeric"},
            {"authFactorType": "PIN", "challenge": "1234", "format": "number"}
        ]
    });
    let at = |seconds: u64, request: Value| {
        let time = envelope::time(NOW.plus(seconds));
        json!({"requestTime": time, "request": request})
    };
    [at(0, details), at(119, client), at(60, proof)]
        .map(|seed| seed.to_string().into_bytes())
        .into()
}
