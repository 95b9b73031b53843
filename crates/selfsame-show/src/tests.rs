use selfsame_crypto::encoding::{base64url_encode, hex_decode, hex_encode};
use selfsame_crypto::jws;
use serde_json::{Value, json};

use super::*;

/// A time at which the samples are in force.
const NOW: UnixTime = UnixTime(1_700_000_000);

fn show(file: &[u8]) -> Result<ShownFile, NotShown> {
    explain(file, NOW)
}

fn shown(text: &str) -> ShownFile {
    show(text.as_bytes()).unwrap()
}

/// The faults, by their paragraphs.
fn paragraphs(shown: &ShownFile) -> Vec<&str> {
    let problems = shown.problems.iter();
    problems.map(|problem| problem.paragraph).collect()
}

fn link(scheme: &str, name: &str, value: &Value) -> String {
    let value: String =
        url::form_urlencoded::byte_serialize(value.to_string().as_bytes()).collect();
    format!("{scheme}://?{name}={value}")
}

/// The recorded licence, issued and presented.
fn licence(name: &str) -> Vec<u8> {
    let vector = include_str!("../../../vectors/mdoc/licence.json");
    let vector: Value = serde_json::from_str(vector).unwrap();
    hex_decode(vector[name].as_str().unwrap()).unwrap()
}

#[test]
fn an_mdoc_is_shown_as_issued_and_as_presented_in_each_encoding() {
    let issued = licence("issued");
    let shown = show(&issued).unwrap();
    assert_eq!(shown.format, "mso_mdoc");
    let elements = &shown.content["elements"]["org.iso.18013.5.1"];
    assert_eq!(elements["given_name"], "Erika");
    assert_eq!(shown.content["signed_by_that_certificate"], true);
    assert_eq!(shown.content["elements_are_those_signed"], true);
    assert_eq!(shown.content["status"]["status_list"]["idx"], 412);
    assert_eq!(
        shown.content["signer"][0]["subject"],
        "C=UT, CN=Utopia DS 1"
    );
    for text in [
        hex_encode(&issued),
        base64url_encode(&issued),
        format!(" {}\n", hex_encode(&issued)),
    ] {
        assert_eq!(show(text.as_bytes()).as_ref(), Ok(&shown));
    }
    for (name, proof) in [
        ("signed", "a signature"),
        ("tagged", "a tag by a key shared with the reader"),
    ] {
        let shown = show(&licence(name)).unwrap();
        assert_eq!(shown.content["device_proof"], proof);
        let elements = shown.content["elements"]["org.iso.18013.5.1"]
            .as_object()
            .unwrap();
        assert_eq!(elements.len(), 2);
    }
}

#[test]
fn an_element_that_was_changed_is_told_apart() {
    let mut issued = licence("issued");
    let at = issued.windows(5).position(|part| part == b"Erika").unwrap();
    issued[at] = b'F';
    let shown = show(&issued).unwrap();
    assert_eq!(shown.content["elements_are_those_signed"], false);
    assert_eq!(shown.content["signed_by_that_certificate"], true);
}

#[test]
fn tokens_are_shown_by_their_format() {
    let vector = |text: &str, pointer: &str| {
        let vector: Value = serde_json::from_str(text).unwrap();
        let token = vector.pointer(pointer).unwrap().as_str().unwrap();
        show(token.as_bytes()).unwrap()
    };
    let presented = include_str!("../../../vectors/sd-jwt/sd_jwt_vc.json");
    let presented = vector(presented, "/cases/0/text");
    assert_eq!(presented.format, "sd-jwt+kb");
    assert!(presented.content["key_binding"]["nonce"].is_string());
    assert!(
        !presented.content["disclosures"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let w3c = include_str!("../../../vectors/vc-jwt/vcdm_1_1.json");
    let w3c: Value = serde_json::from_str(w3c).unwrap();
    let token = jws::Unsigned::new(&w3c["header"], &w3c["payload"]).finish(&[7; 64]);
    let w3c = show(token.as_bytes()).unwrap();
    assert_eq!(
        (w3c.format, &w3c.content["header"]["alg"]),
        ("jwt_vc_json", &json!("RS256"))
    );
    let other = jws::Unsigned::new(&json!({"alg": "ES256"}), &json!({"a": 1})).finish(&[7; 64]);
    let other = show(other.as_bytes()).unwrap();
    assert_eq!(
        (other.format, &other.content["claims"]["a"]),
        ("jwt", &json!(1))
    );
}

#[test]
fn a_compact_credential_is_shown_by_its_format() {
    let vector = include_str!("../../../vectors/tls/compact-credential.txt");
    // The last value of the file goes on over several lines.
    let (_, credential) = vector.split_once("credential: ").unwrap();
    let shown = show(credential.as_bytes()).unwrap();
    assert_eq!(shown.format, "cwt");
    assert_eq!(shown.content["credential"]["claims"]["service"], "meter");
}

#[test]
fn messages_of_cose_and_other_cbor_are_shown() {
    let mac = [
        &[
            0xd1, 0x84, 0x43, 0xa1, 0x01, 0x05, 0xa0, 0x41, 0x07, 0x58, 0x20,
        ][..],
        &[7; 32],
    ]
    .concat();
    let shown = show(&mac).unwrap();
    assert_eq!(shown.format, "cose_mac0");
    assert_eq!(shown.content["payload"], 7);
    let cbor = show(&[0xa1, 0x61, b'a', 0x82, 0x01, 0xf6]).unwrap();
    assert_eq!((cbor.format, cbor.content), ("cbor", Value::Null));
    assert_eq!(cbor.notation.as_deref(), Some(r#"{"a": [1, null]}"#));
}

#[test]
fn what_is_nothing_known_is_refused_with_the_reason() {
    assert_eq!(show(b" \n"), Err(NotShown::Empty));
    assert_eq!(show(&vec![0; MAX_BYTES + 1]), Err(NotShown::TooLong));
    assert_eq!(show(&[0xff, 0xff]), Err(NotShown::Unknown));
    for broken in ["eyJhbGciOiJub25lIn0.e30.", "eyJ.a.b", "a~b~"] {
        let refused = show(broken.as_bytes());
        assert!(
            matches!(refused, Err(NotShown::Malformed { .. })),
            "{broken}"
        );
    }
    let mut issued = licence("issued");
    let at = issued
        .windows(7)
        .position(|part| part == b"SHA-256")
        .unwrap();
    issued[at + 4] = b'9';
    assert!(matches!(show(&issued), Err(NotShown::Malformed { .. })));
}

#[test]
fn lines_for_people_cut_long_texts_and_escape_what_steers_a_terminal() {
    let shown = ShownFile {
        format: "jwt",
        title: "JWT",
        content: json!({"long": "x".repeat(1_000), "name": "\u{202e}\u{9b}Zoë"}),
        notation: None,
        problems: vec![ShownProblem::new("\u{9b}x", "RFC 1")],
    };
    let lines = shown.lines().join("\n");
    assert!(lines.contains("… (1000 bytes)") && lines.len() < 400);
    assert!(lines.contains(r"\u202e\u009bZoë"), "{lines}");
    assert!(lines.ends_with(r"wrong: \u009bx (RFC 1)"), "{lines}");
}

fn offer() -> Value {
    json!({
        "credential_issuer": "https://clinic.example",
        "credential_configuration_ids": ["badge"],
        "grants": {"urn:ietf:params:oauth:grant-type:pre-authorized_code": {
            "pre-authorized_code": "very-secret", "tx_code": {"length": 6},
        }},
    })
}

#[test]
fn an_offer_is_explained_as_link_and_as_json_with_its_code_masked() {
    let as_link = link("openid-credential-offer", "credential_offer", &offer());
    let wrapped = link("https", "uri", &Value::Null).replace("null", &{
        let inner: String = url::form_urlencoded::byte_serialize(as_link.as_bytes()).collect();
        inner
    });
    let wrapped = wrapped.replace("https://?", "https://wallet.example/wallet/offer?");
    for text in [offer().to_string(), as_link, wrapped] {
        let shown = shown(&text);
        assert_eq!(shown.format, "credential-offer", "{text}");
        assert_eq!(shown.problems, [], "{text}");
        assert!(!shown.lines().concat().contains("very-secret"));
        assert!(
            !serde_json::to_string(&shown)
                .unwrap()
                .contains("very-secret")
        );
    }
    let reference =
        "openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fclinic.example%2F1";
    let shown = shown(reference);
    assert_eq!(
        shown.content["credential_offer_uri"],
        "https://clinic.example/1"
    );
    assert_eq!(shown.problems, []);
}

#[test]
fn an_issuer_on_this_machine_needs_no_certificate() {
    let of = |issuer: &str| {
        let mut offer = offer();
        offer["credential_issuer"] = issuer.into();
        let problems = shown(&offer.to_string()).problems.into_iter();
        problems.map(|one| one.paragraph).collect::<Vec<_>>()
    };
    for here in [
        "http://localhost:7380/issuer",
        "http://127.0.0.1/a",
        "http://acme.localhost",
        "http://[::1]:80",
    ] {
        assert!(of(here).is_empty(), "{here}");
    }
    for elsewhere in [
        "http://localhost.example/a",
        "http://128.0.0.1/a",
        "ftp://localhost/a",
    ] {
        assert_eq!(of(elsewhere), ["OpenID4VCI 1.0 §12.2.1"], "{elsewhere}");
    }
}

#[test]
fn each_fault_of_an_offer_has_its_paragraph() {
    let wrong = json!({
        "credential_issuer": "http://clinic.example",
        "credential_configuration_ids": ["a", "a"],
        "grants": {"urn:ietf:params:oauth:grant-type:pre-authorized_code": {
            "tx_code": {"input_mode": "voice", "description": "x".repeat(301)},
        }},
    });
    let found = shown(&wrong.to_string());
    let rule = "OpenID4VCI 1.0 §4.1.1";
    assert_eq!(
        paragraphs(&found),
        ["OpenID4VCI 1.0 §12.2.1", rule, rule, rule, rule]
    );
    for text in [
        "openid-credential-offer://?x=1",
        "openid-credential-offer://?credential_offer=%7B%7D&credential_offer_uri=x",
    ] {
        assert_eq!(paragraphs(&shown(text)), ["OpenID4VCI 1.0 §4.1"], "{text}");
    }
    let reference = "openid-credential-offer://?credential_offer_uri=http%3A%2F%2Fx.example";
    assert_eq!(paragraphs(&shown(reference)), ["OpenID4VCI 1.0 §4.1.3"]);
}

fn asked() -> Value {
    json!({
        "client_id": "x509_san_dns:shop.example",
        "response_type": "vp_token",
        "response_mode": "direct_post",
        "response_uri": "https://shop.example/answer",
        "nonce": "n-0123456789abcdef",
        "state": "s",
        "client_metadata": {"vp_formats_supported": {"dc+sd-jwt": {
            "sd-jwt_alg_values": ["ES256"], "kb-jwt_alg_values": ["ES256"],
        }}},
        "dcql_query": {"credentials": [{
            "id": "badge", "format": "dc+sd-jwt", "meta": {"vct_values": ["urn:x"]},
            "claims": [{"path": ["name"]}],
        }]},
    })
}

fn object(typ: &str, claims: &Value) -> String {
    jws::Unsigned::new(&json!({"alg": "ES256", "typ": typ}), claims).finish(&[7; 64])
}

#[test]
fn a_request_is_explained_as_request_object_and_as_link() {
    let token = object("oauth-authz-req+jwt", &asked());
    let found = shown(&token);
    assert_eq!(
        (found.format, &found.problems[..]),
        ("presentation-request", &[][..])
    );
    let client = "client_id=x509_san_dns%3Ashop.example";
    let found = shown(&format!("openid4vp://?{client}&request={token}"));
    assert_eq!(found.problems, []);
    let other = shown(&format!(
        "openid4vp://?client_id=x509_san_dns%3Aother.example&request={token}"
    ));
    assert_eq!(paragraphs(&other), ["RFC 9101 §5"]);
    let reference = shown(&format!(
        "openid4vp://?{client}&request_uri=http%3A%2F%2Fshop.example"
    ));
    assert_eq!(paragraphs(&reference), ["RFC 9101 §5.2"]);
    let both = shown(&format!("openid4vp://?{client}&request=a&request_uri=b"));
    assert_eq!(paragraphs(&both), ["RFC 9101 §5"]);
}

#[test]
fn each_fault_of_a_request_has_its_paragraph() {
    let faulty = |name: &str, value: Value| {
        let mut request = asked();
        request[name] = value;
        let found = shown(&object("oauth-authz-req+jwt", &request));
        paragraphs(&found).join(", ")
    };
    for (name, value, paragraph) in [
        ("client_id", json!("shop.example"), "OpenID4VP 1.0 §5.9"),
        ("response_type", json!("code"), "OpenID4VP 1.0 §5.4"),
        ("response_type", Value::Null, "RFC 6749 §3.1.1"),
        ("nonce", json!("é"), "OpenID4VP 1.0 §5.2"),
        ("response_uri", Value::Null, "OpenID4VP 1.0 §8.2"),
        (
            "redirect_uri",
            json!("https://x.example"),
            "OpenID4VP 1.0 §8.2",
        ),
        ("scope", json!("badge"), "OpenID4VP 1.0 §5.1"),
        ("dcql_query", json!({"credentials": []}), "OpenID4VP 1.0 §6"),
        ("exp", json!(7), "RFC 7519 §4.1.4"),
    ] {
        assert_eq!(faulty(name, value.clone()), paragraph, "{name} {value}");
    }
    let typ = shown(&object("JWT", &asked()));
    assert_eq!(paragraphs(&typ), ["OpenID4VP 1.0 §5"]);
}

#[test]
fn a_status_list_is_counted_and_its_faults_are_named() {
    use selfsame_status::{Bits, Terms, Width, token_list};
    let mut bits = Bits::new(Width::Two, 1_000).unwrap();
    bits.set(3, 1).unwrap();
    bits.set(4, 2).unwrap();
    bits.set(5, 2).unwrap();
    let header = json!({"alg": "ES256"});
    let terms = Terms {
        uri: "https://clinic.example/status/0",
        issuer: "https://clinic.example",
        header: header.as_object().unwrap(),
        issued_at: NOW,
        expires_at: Some(NOW.plus(100)),
        ttl: Some(60),
    };
    let token = token_list::encode(&bits, &terms).unwrap().finish(&[7; 64]);
    let found = shown(&token);
    assert_eq!(
        (found.format, &found.problems[..]),
        ("status-list", &[][..])
    );
    assert_eq!(
        found.content["other_than_valid"],
        json!({"revoked": 1, "suspended": 2})
    );
    assert!(!found.lines().concat().contains("\"lst\""));
    let late = explain(token.as_bytes(), NOW.plus(10_000)).unwrap();
    assert_eq!(paragraphs(&late), ["Token Status List §5.1"]);
    let claims = json!({"sub": "x", "iat": 7, "status_list": {"bits": 1, "lst": "AAAA"}});
    let found = shown(&object("statuslist+jwt", &claims));
    assert_eq!(paragraphs(&found), ["Token Status List §4.1"]);
}

#[test]
fn a_did_document_names_references_that_lead_nowhere_and_hides_private_keys() {
    let key =
        json!({"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"});
    let document = |key: &Value, auth: &str| {
        json!({
            "@context": ["https://www.w3.org/ns/did/v1"],
            "id": "did:web:clinic.example",
            "verificationMethod": [{
                "id": "did:web:clinic.example#one", "type": "JsonWebKey2020",
                "controller": "did:web:clinic.example", "publicKeyJwk": key,
            }],
            "authentication": [auth],
        })
    };
    let good = document(&key, "did:web:clinic.example#one");
    assert_eq!(shown(&good.to_string()).problems, []);
    let wrapped = json!({"didDocument": good, "didResolutionMetadata": {}});
    assert_eq!(shown(&wrapped.to_string()).format, "did-document");
    let lost = document(&key, "did:web:clinic.example#two");
    assert_eq!(paragraphs(&shown(&lost.to_string())), ["DID Core 1.0 §5.3"]);
    let mut private = key.clone();
    private["d"] = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A".into();
    let shown = shown(&document(&private, "did:web:clinic.example#one").to_string());
    assert_eq!(paragraphs(&shown), ["DID Core 1.0 §5.2.1"]);
    assert!(!shown.lines().concat().contains("nWGxne"));
}

#[test]
fn an_invitation_is_explained_as_link_and_as_json() {
    let invitation = json!({
        "@type": "https://didcomm.org/out-of-band/1.1/invitation", "@id": "one",
        "label": "Clinic", "handshake_protocols": ["https://didcomm.org/didexchange/1.1"],
        "services": ["did:web:clinic.example"],
    });
    let text = base64url_encode(invitation.to_string().as_bytes());
    for text in [
        invitation.to_string(),
        format!("https://clinic.example/invite?oob={text}"),
    ] {
        let shown = shown(&text);
        assert_eq!(shown.problems, [], "{text}");
        assert_eq!(shown.content["label"], "Clinic");
    }
    let mut empty = invitation.clone();
    empty["services"] = json!([]);
    assert_eq!(paragraphs(&shown(&empty.to_string())), ["Aries RFC 0434"]);
}

#[test]
fn times_of_a_token_and_faults_of_an_sd_jwt_vc_are_named() {
    let found = shown(&object("JWT", &json!({"exp": 7, "nbf": 2_000_000_000})));
    assert_eq!(paragraphs(&found), ["RFC 7519 §4.1.4", "RFC 7519 §4.1.5"]);
    let found = shown(&object("JWT", &json!({"exp": "soon"})));
    assert_eq!(paragraphs(&found), ["RFC 7519 §2"]);
    let hidden = base64url_encode(br#"["salt", "exp", 7]"#);
    let digest = selfsame_crypto::hash::sha256(hidden.as_bytes());
    let claims = json!({
        "vct": "urn:x", "_sd": [base64url_encode(&digest), base64url_encode(&[7; 32])],
    });
    let token = format!("{}~{hidden}~", object("JWT", &claims));
    let found = shown(&token);
    assert_eq!(found.content["undisclosed"], 1);
    let faults = paragraphs(&found);
    assert!(faults.contains(&"SD-JWT VC §2.2.1"), "{faults:?}");
    assert!(faults.contains(&"SD-JWT VC §2.2.2.2"), "{faults:?}");
}
