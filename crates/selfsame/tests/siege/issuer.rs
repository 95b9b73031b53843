//! The attacker's issuer: it gives a wallet whatever the wallet requests, as large as the wallet accepts.

use selfsame_credential::ClaimPath;
use selfsame_credential::format::sd_jwt_vc::Issue;
use selfsame_credential::sd_jwt::DigestAlgorithm;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::seal;
use selfsame_crypto::time::UnixTime;
use serde_json::{Map, Value, json};

use crate::foreign::{Heard, Key, PRE_AUTHORIZED, Said, Stranger, now};
use crate::http::Api;
use crate::rig::post;

/// The type of all its credentials.
pub const TYPE: &str = "urn:example:heavy";
/// Number of disclosable claims of a heavy card: with these it stays below the 128 KiB that a wallet accepts.
const CLAIMS: usize = 600;
/// Number of members of the list that each light card points to; compressed, they are some two thousand bytes.
const LIST: usize = 2_000_000;

/// The server of an untrusted issuer.
pub struct Issuer(Stranger);

impl Issuer {
    pub fn start() -> Self {
        let server = Stranger::new();
        let (key, origin) = (Key::new(), server.origin.to_string());
        let list = compressed();
        server.says(move |heard| said(heard, &key, origin.trim_end_matches('/'), &list));
        Self(server)
    }

    pub fn origin(&self) -> &str {
        self.0.origin.as_str()
    }

    /// Fills a wallet with this many cards of a kind: `heavy`, or `listed`, each with its own status list.
    pub fn fill(&self, wallet: &Api, kind: &str, count: usize) {
        for number in 0..count {
            let offer = json!({
                "credential_issuer": self.origin().trim_end_matches('/'),
                "credential_configuration_ids": [kind],
                "grants": { PRE_AUTHORIZED: { "pre-authorized_code": format!("{kind}{number}") } },
            });
            let link = url::form_urlencoded::Serializer::new(String::new())
                .append_pair("credential_offer", &offer.to_string())
                .finish();
            let link = format!("openid-credential-offer://?{link}");
            post(
                wallet,
                "/api/wallet/offers/accept",
                &json!({ "offer": link }),
            );
        }
    }
}

fn said(heard: &Heard, key: &Key, origin: &str, list: &str) -> Said {
    let path = heard.target.split('?').next().unwrap_or_default();
    match path {
        "/.well-known/openid-credential-issuer" => Said::json(&metadata(origin)),
        "/.well-known/oauth-authorization-server" => Said::json(&json!({
            "issuer": origin,
            "token_endpoint": format!("{origin}/token"),
            "grant_types_supported": [PRE_AUTHORIZED],
        })),
        // The code is used as the token: it names the card.
        "/token" => {
            let code = url::form_urlencoded::parse(heard.body.as_bytes())
                .find(|(name, _)| name == "pre-authorized_code")
                .map(|(_, code)| code.into_owned());
            Said::json(&json!({ "access_token": code, "token_type": "Bearer", "expires_in": 600 }))
        }
        "/credential" => Said::json(&issued(heard, key, origin)),
        _ if path.starts_with("/lists/") => Said::new(
            200,
            "application/statuslist+jwt",
            signed_list(key, &format!("{origin}{path}"), list),
        ),
        _ => Said::new(404, "text/plain", "nothing"),
    }
}

fn metadata(origin: &str) -> Value {
    let kind = json!({
        "format": "dc+sd-jwt",
        "vct": TYPE,
        "cryptographic_binding_methods_supported": ["jwk"],
        "credential_signing_alg_values_supported": ["ES256"],
        "proof_types_supported": { "jwt": { "proof_signing_alg_values_supported": ["ES256"] } },
    });
    json!({
        "credential_issuer": origin,
        "credential_endpoint": format!("{origin}/credential"),
        "credential_configurations_supported": { "heavy": kind, "listed": kind },
    })
}

fn issued(heard: &Heard, key: &Key, origin: &str) -> Value {
    let asked: Value = serde_json::from_str(&heard.body).unwrap();
    let proof = asked["proofs"]["jwt"][0].as_str().unwrap();
    let header = base64url_decode(proof.split('.').next().unwrap()).unwrap();
    let header: Value = serde_json::from_slice(&header).unwrap();
    let authorization = heard.head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let token = value.trim().strip_prefix("Bearer ")?;
        name.eq_ignore_ascii_case("authorization").then_some(token)
    });
    let token = authorization.unwrap_or_default();
    let claims = if token.starts_with("heavy") {
        heavy()
    } else {
        let status = json!({ "idx": 5, "uri": format!("{origin}/lists/{token}") });
        json!({ "status": { "status_list": status } })
    };
    let credential = signed(key, claims, &header["jwk"]);
    json!({ "credentials": [{ "credential": credential }] })
}

fn heavy() -> Value {
    (0..CLAIMS)
        .map(|number| (format!("c{number}"), json!(number)))
        .collect::<Map<_, _>>()
        .into()
}

fn signed(key: &Key, mut claims: Value, holder: &Value) -> String {
    let disclosable = claims
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| *name != "status");
    let disclosable = disclosable
        .map(|name| ClaimPath::of_names([name.as_str()]).unwrap())
        .collect();
    for (name, value) in [
        ("iss", json!(key.did())),
        ("vct", json!(TYPE)),
        ("iat", json!(now())),
    ] {
        claims[name] = value;
    }
    let Value::Object(claims) = claims else {
        unreachable!("it was made an object")
    };
    let draft = Issue {
        claims,
        disclosable,
        decoys: 0,
        cnf: Some(serde_json::from_value(holder.clone()).unwrap()),
        digest: DigestAlgorithm::Sha256,
        signer: key.signer(),
        label: "heavy".to_owned(),
    };
    let draft = draft
        .draft(&Ctx::new(UnixTime(now()), seal::random_seed()))
        .unwrap();
    let signature = key.sign_bytes(draft.signing_input());
    draft.finish(&signature)
}

/// This many members that are all zero, compressed as the ZLIB of a status list.
fn compressed() -> String {
    use std::io::Write as _;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![0; LIST]).unwrap();
    base64url_encode(&encoder.finish().unwrap())
}

fn signed_list(key: &Key, uri: &str, list: &str) -> String {
    let header = json!({ "alg": key.alg(), "typ": "statuslist+jwt", "kid": key.kid() });
    let payload = json!({
        "iss": key.did(), "sub": uri, "iat": now(), "exp": now() + 3600,
        "status_list": { "bits": 1, "lst": list },
    });
    key.sign(&header, &payload)
}
