//! Inputs that the parsers accept, from which the mutator makes others.

use selfsame_credential::{
    ClaimPath, Signer,
    format::sd_jwt_vc::Issue,
    sd_jwt::{DigestAlgorithm, SdJwt},
    status::{
        Bits, Purpose, Reference, Terms, Width, bitstring,
        cwt_list::{CwtListDraft, CwtTerms},
        token_list,
    },
};
use selfsame_crypto::{
    Algorithm, KeyHandle, KeyType, PrivateKey,
    ctx::Ctx,
    encoding::base64url_decode,
    jws::{Compact, Unsigned},
    time::UnixTime,
};
use selfsame_did::{Document, Relationship, Representation, VerificationMethod, jwk, key};
use serde_json::{Map, Value, json};
use url::Url;

const NOW: UnixTime = UnixTime(1_800_000_000);
const URI: &str = "https://issuer.example/status";

pub(super) fn jwt() -> Vec<Vec<u8>> {
    let payload =
        json!({"iss": "https://issuer.example", "exp": 1_800_000_000, "a": [1, {"b": null}]});
    let key = signer().public().to_jwk().to_value();
    let headers = [
        json!({"alg": "ES256", "kid": "did:web:issuer.example#1", "typ": "JWT"}),
        json!({"alg": "EdDSA", "jwk": key, "typ": "openid4vci-proof+jwt"}),
        json!({"alg": "PS256", "x5c": ["MAA="], "b64": true}),
    ];
    let mut seeds = Vec::new();
    for header in headers {
        let text = Unsigned::new(&header, &payload).finish(&[7; 64]);
        seeds.push(raw(&Compact::parse(&text).expect("it is a JWS"), &header));
        seeds.push(text.into_bytes());
    }
    seeds
}

/// A JWS as its header, its payload and its signature, separated by zero bytes.
fn raw(token: &Compact, header: &Value) -> Vec<u8> {
    let header = header.to_string().into_bytes();
    [header, token.payload.clone(), b"signature".to_vec()].join(&0)
}

pub(super) fn sd_jwt() -> Vec<Vec<u8>> {
    let claims = json!({
        "vct": "https://credentials.example.com/identity_credential",
        "iss": "https://issuer.example",
        "given_name": "Arthur",
        "address": {"street_address": "42 Market Street", "locality": "Milliways"},
        "nationalities": ["British", "Betelgeusian"],
    });
    let Value::Object(claims) = claims else {
        return Vec::new();
    };
    let path = |path| ClaimPath::parse(&path).expect("it is a path");
    let issue = Issue {
        claims,
        disclosable: vec![
            path(json!(["given_name"])),
            path(json!(["address"])),
            path(json!(["address", "locality"])),
            path(json!(["nationalities", null])),
        ],
        decoys: 1,
        cnf: None,
        digest: DigestAlgorithm::Sha256,
        signer: Signer::with_kid(KeyHandle::of(signer().public()), Algorithm::EdDsa, "1"),
        label: "seed".to_owned(),
    };
    let draft = issue
        .draft(&Ctx::new(NOW, [7; 32]))
        .expect("the claims are sound");
    let text = draft.finish(&[7; 64]);
    let sd_jwt = SdJwt::parse(&text).expect("it is an SD-JWT");
    let mut parts = vec![
        br#"{"alg":"EdDSA","typ":"dc+sd-jwt"}"#.to_vec(),
        sd_jwt.jwt().payload.clone(),
    ];
    for disclosure in sd_jwt.disclosures() {
        parts.push(base64url_decode(disclosure.encoded()).expect("it is base64url"));
    }
    let bound = format!("{text}{}", text.split('~').next().unwrap_or_default());
    vec![text.into_bytes(), parts.join(&0), bound.into_bytes()]
}

pub(super) fn explain() -> Vec<Vec<u8>> {
    let offer = json!({
        "credential_issuer": "https://clinic.example", "credential_configuration_ids": ["a"],
        "grants": {
            "urn:ietf:params:oauth:grant-type:pre-authorized_code": { "pre-authorized_code": "7" },
        },
    });
    let mut link = Url::parse("openid-credential-offer://").expect("it is a URL");
    link.query_pairs_mut()
        .append_pair("credential_offer", &offer.to_string());
    let request =
        "openid4vp://?client_id=x509_san_dns%3Aa.example&request_uri=https%3A%2F%2Fa.example";
    let document = json!({"id": "did:web:clinic.example", "verificationMethod": []});
    [
        link.as_str(),
        &offer.to_string(),
        request,
        &document.to_string(),
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

pub(super) fn table() -> Vec<Vec<u8>> {
    [
        "\0reference,given_name\r\n1,\"Maja, \"\"M\"\"\"\r\n",
        "\u{8}\u{feff}a;b\n=1+1;\"two\nlines\"\n",
        "\u{5}{\"reference\": \"1\", \"claims\": {\"a\": 1}}\n\n{\"claims\": {}}\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

pub(super) fn traceparent() -> Vec<Vec<u8>> {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let state = format!("selfsame={}", "07".repeat(16));
    vec![
        parent.into(),
        format!("{}-later", parent.replace("00-", "cc-")).into(),
        format!("{parent}\0other=1,{state}").into(),
    ]
}

pub(super) fn wire_message() -> Vec<Vec<u8>> {
    [
        "application/json\0{\"grants\": {\"authorization_code\": {\"code\": \"4711471147114711\"}}}",
        "application/x-www-form-urlencoded\0grant_type=x&code=abcdefghijklmnop&vp_token=%7B%22a%22%3A%5B%5D%7D",
        "application/jwt\0eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwczovL2UuZXhhbXBsZSJ9.c2ln~WyJzIiwibiIsInYiXQ~",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

pub(super) fn did_url() -> Vec<Vec<u8>> {
    let signer = signer();
    let mut seeds: Vec<String> = [
        "did:example:123456/path/to?service=files&relativeRef=%2Fa#key-1",
        "did:web:issuer.example%3A8443:people:arthur#key-1",
        "did:web:issuer.example",
        "did:selfsame:zzzzzzzzzzzzzzzz:2wJPyULfLLnYTEFYzByfUR?versionId=2",
        "did:example:a:b:c::d?a=1&a=2",
    ]
    .map(str::to_owned)
    .to_vec();
    let of_keys = [
        key::create(signer.public()),
        key::create_jwk_jcs(signer.public()),
        jwk::create(signer.public()),
    ];
    seeds.extend(of_keys.map(|did| did.to_string()));
    seeds.into_iter().map(String::into_bytes).collect()
}

pub(super) fn did_document() -> Vec<Vec<u8>> {
    let signer = signer();
    let did = key::create(signer.public());
    let id = did.with_fragment("key-1").expect("it is a fragment");
    let mut document = Document::new(did);
    document.add(
        VerificationMethod::json_web_key(id.clone(), signer.public()),
        &Relationship::SIGNING,
    );
    let id = id.did.with_fragment("key-2").expect("it is a fragment");
    document.add(
        VerificationMethod::multikey(id, signer.public()),
        &[Relationship::Authentication],
    );
    let mut written = document.to_value(Representation::Did);
    let plain = document.to_value(Representation::Json);
    written["service"] = json!([{
        "id": "#files", "type": ["A", "B"], "serviceEndpoint": ["https://a.example", {"b": 1}], "x": 1,
    }]);
    written["alsoKnownAs"] = json!(["https://arthur.example"]);
    written["controller"] = json!(["did:example:1", "did:example:2"]);
    written["unknown"] = json!({"member": []});
    let embedded = json!({
        "id": "did:example:1",
        "authentication": [{
            "id": "#k", "type": "Ed25519VerificationKey2018", "controller": "did:example:1",
            "publicKeyBase58": "H3C2AVvLMv6gmMNam3uVAjZpfkcJCwDwnZn6z3wXmqPV",
        }, "did:example:2#k"],
    });
    [written, plain, embedded]
        .map(|document| document.to_string().into_bytes())
        .to_vec()
}

pub(super) fn status_list() -> Vec<Vec<u8>> {
    let header = Map::from_iter([("alg".to_owned(), json!("EdDSA"))]);
    let terms = Terms {
        uri: URI,
        issuer: "did:web:issuer.example",
        header: &header,
        issued_at: NOW,
        expires_at: Some(NOW.plus(60)),
        ttl: Some(10),
    };
    let mut few = Bits::new(Width::Two, 64).expect("it is short");
    few.set(7, 2).expect("it is in the list");
    let few = token_list::encode(&few, &terms).expect("it can be written");
    let many = Bits::new(Width::One, bitstring::MIN_ENTRIES).expect("it is short");
    let many = bitstring::encode(&many, Purpose::Revocation, &terms).expect("it can be written");
    let mut seeds = vec![cwt_list()];
    for unsigned in [few, many] {
        let text = unsigned.finish(b"signature");
        seeds.push(Compact::parse(&text).expect("it is a JWS").payload);
        seeds.push(text.into_bytes());
    }
    let payload: Value = serde_json::from_slice(&seeds[1]).expect("it is JSON");
    let compressed = payload["status_list"]["lst"].as_str().unwrap_or_default();
    seeds.push(base64url_decode(compressed).expect("it is base64url"));
    let token = json!({"status": Reference::token(URI, 7).to_value()});
    let purposes = [Purpose::Revocation, Purpose::Suspension];
    let entries = purposes.map(|purpose| Reference::bitstring(URI, 7, purpose).to_value());
    seeds.push(token.to_string().into_bytes());
    seeds.push(
        json!({"credentialStatus": entries})
            .to_string()
            .into_bytes(),
    );
    seeds
}

/// A list as a CWT.
fn cwt_list() -> Vec<u8> {
    let mut bits = Bits::new(Width::Two, 64).expect("it is short");
    bits.set(7, 2).expect("it is in the list");
    let terms = CwtTerms {
        uri: URI,
        issued_at: NOW,
        expires_at: Some(NOW.plus(60)),
        ttl: Some(10),
        algorithm: Algorithm::Es256,
        chain: vec![vec![1]],
    };
    let draft = CwtListDraft::new(&bits, terms).expect("it can be written");
    draft.finish(&[7; 64])
}

/// The specification's queries, each with the claims of the vector's credential.
pub(super) fn dcql() -> Vec<Vec<u8>> {
    let vectors = [
        include_str!("../../../../vectors/dcql/simple.json"),
        include_str!("../../../../vectors/dcql/claims_alternatives.json"),
        include_str!("../../../../vectors/dcql/credentials_alternatives.json"),
        include_str!("../../../../vectors/dcql/value_matching_simple.json"),
        include_str!("../../../../vectors/dcql/jwt_vc.json"),
        include_str!("../../../../vectors/dcql/complex_mdoc.json"),
        include_str!("../../../../vectors/dcql/authority_key.json"),
    ];
    let mut seeds = Vec::new();
    for vector in vectors {
        let vector: Value = serde_json::from_str(vector).expect("a vector is JSON");
        let claims = &vector["cases"][0]["held"][0]["claims"];
        seeds.push(format!("{}\0{claims}", vector["query"]).into_bytes());
    }
    let query = json!({"credentials": [{
        "id": "c", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:example:arthur"]},
        "claims": [{"path": ["degrees", null, "type"], "values": ["a", 1, true]}, {"path": ["n", 1]}],
    }]});
    let claims = json!({"degrees": [{"type": "a"}, {"type": 1}, {}], "n": ["x", "y"]});
    seeds.push(format!("{query}\0{claims}").into_bytes());
    seeds
}

fn signer() -> PrivateKey {
    PrivateKey::generate(KeyType::Ed25519).expect("the system gives randomness")
}
