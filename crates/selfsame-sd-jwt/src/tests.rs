//! Reading, processing and presenting, by example and for arbitrary texts.

use proptest::prelude::*;
use selfsame_crypto::encoding::base64url_encode;
use serde_json::json;

use super::*;

/// An SD-JWT over this payload; nothing here looks at the signature.
fn unsigned(payload: &Value, disclosures: &[String]) -> String {
    let jwt = jws::Unsigned::new(&json!({"alg": "EdDSA"}), payload);
    let mut text = jwt.finish(&[0; 64]) + "~";
    for disclosure in disclosures {
        text += disclosure;
        text += "~";
    }
    text
}

fn disclosure(content: &Value) -> String {
    base64url_encode(content.to_string().as_bytes())
}

fn digest(disclosure: &str) -> String {
    DigestAlgorithm::Sha256.digest(disclosure.as_bytes())
}

fn process(payload: &Value, disclosures: &[String]) -> Result<Value, ProcessError> {
    let sd_jwt = SdJwt::parse(&unsigned(payload, disclosures)).unwrap();
    sd_jwt.process().map(|processed| processed.claims)
}

#[test]
fn a_digest_embedded_twice_is_refused() {
    let one = disclosure(&json!(["salt", "a", 1]));
    let twice = json!({"_sd": [digest(&one)], "b": {"_sd": [digest(&one)]}});
    assert_eq!(process(&twice, &[one]), Err(ProcessError::DuplicateDigest));
    let decoy = digest("decoy");
    let decoys = json!({"_sd": [decoy, decoy]});
    assert_eq!(process(&decoys, &[]), Err(ProcessError::DuplicateDigest));
    let element = json!({"_sd": [decoy], "list": [{"...": decoy}]});
    assert_eq!(process(&element, &[]), Err(ProcessError::DuplicateDigest));
}

#[test]
fn a_disclosure_that_nothing_refers_to_or_that_comes_twice_is_refused() {
    let one = disclosure(&json!(["salt", "a", 1]));
    let stray = process(&json!({"_sd": []}), std::slice::from_ref(&one));
    assert_eq!(stray, Err(ProcessError::Unreferenced));
    let payload = json!({"_sd": [digest(&one)]});
    assert_eq!(
        process(&payload, &[one.clone(), one]),
        Err(ProcessError::Unreferenced)
    );
}

#[test]
fn a_child_without_its_recursive_parent_is_refused() {
    let child = disclosure(&json!(["salt", "b", 1]));
    let parent = disclosure(&json!(["salt", "a", {"_sd": [digest(&child)]}]));
    let payload = json!({"_sd": [digest(&parent)]});
    let both = [parent, child.clone()];
    assert_eq!(process(&payload, &both), Ok(json!({"a": {"b": 1}})));
    assert_eq!(process(&payload, &[child]), Err(ProcessError::Unreferenced));
}

#[test]
fn a_disclosure_of_the_wrong_kind_for_its_place_is_refused() {
    let member = disclosure(&json!(["salt", "a", 1]));
    let element = disclosure(&json!(["salt", 1]));
    let as_member = json!({"_sd": [digest(&element)]});
    assert_eq!(process(&as_member, &[element]), Err(ProcessError::Shape));
    let as_element = json!({"list": [{"...": digest(&member)}]});
    assert_eq!(process(&as_element, &[member]), Err(ProcessError::Shape));
}

#[test]
fn disclosed_claims_with_reserved_names_are_refused() {
    for name in ["_sd", "...", "_sd_alg"] {
        let bad = disclosure(&json!(["salt", name, []]));
        let payload = json!({"_sd": [digest(&bad)]});
        assert_eq!(
            process(&payload, &[bad]),
            Err(ProcessError::ReservedName),
            "{name}"
        );
    }
}

#[test]
fn a_disclosed_claim_that_is_there_already_is_refused() {
    let one = disclosure(&json!(["salt", "a", 1]));
    let other = disclosure(&json!(["pepper", "a", 2]));
    let plain = json!({"a": 0, "_sd": [digest(&one)]});
    assert_eq!(
        process(&plain, std::slice::from_ref(&one)),
        Err(ProcessError::Collision)
    );
    let both = json!({"_sd": [digest(&one), digest(&other)]});
    assert_eq!(process(&both, &[one, other]), Err(ProcessError::Collision));
}

#[test]
fn reserved_members_that_convey_no_digests_are_refused() {
    let bad = [
        json!({"_sd": "x"}),
        json!({"_sd": [1]}),
        json!({"...": "x"}),
        json!({"a": {"...": "x"}}),
        json!({"a": {"_sd_alg": "sha-256"}}),
        json!({"a": [{"...": "x", "b": 1}]}),
        json!({"a": [{"...": 1}]}),
    ];
    for payload in bad {
        assert_eq!(
            process(&payload, &[]),
            Err(ProcessError::Malformed),
            "{payload}"
        );
    }
}

#[test]
fn a_chain_of_disclosures_deeper_than_the_limit_is_refused_without_harm() {
    let mut disclosures = Vec::new();
    let mut value = json!(1);
    for _ in 0..500 {
        let next = disclosure(&json!(["salt", "a", value]));
        value = json!({"_sd": [digest(&next)]});
        disclosures.push(next);
    }
    assert_eq!(process(&value, &disclosures), Err(ProcessError::TooDeep));
}

#[test]
fn texts_that_are_no_sd_jwt_are_refused() {
    let good = unsigned(&json!({"a": 1}), &[disclosure(&json!(["salt", "b", 2]))]);
    assert!(SdJwt::parse(&good).is_ok());
    let jwt = good.split('~').next().unwrap();
    let none = jws::Unsigned::new(&json!({"alg": "none"}), &json!({}));
    let cases = [
        (String::new(), SdJwtError::Form),
        (jwt.to_owned(), SdJwtError::Form),
        ("~".to_owned(), SdJwtError::Jwt),
        (format!("{jwt}~~"), SdJwtError::Disclosure),
        (format!("{jwt}~W10~"), SdJwtError::Disclosure),
        (format!("{jwt}~!~"), SdJwtError::Disclosure),
        (
            format!("{jwt}~{}~", disclosure(&json!([1, "a", 2]))),
            SdJwtError::Disclosure,
        ),
        (
            format!("{jwt}~{}~", disclosure(&json!(["s", "a", 2, 3]))),
            SdJwtError::Disclosure,
        ),
        (
            format!("{jwt}~{}~", disclosure(&json!(["s", 1, 2]))),
            SdJwtError::Disclosure,
        ),
        (format!("{jwt}~x"), SdJwtError::KeyBinding),
        (none.finish(&[]) + "~", SdJwtError::Algorithm),
        (unsigned(&json!([1]), &[]), SdJwtError::Payload),
        (
            format!("{jwt}~{}", "A~".repeat(5000)),
            SdJwtError::Disclosure,
        ),
    ];
    for (text, error) in cases {
        let shown: String = text.chars().take(60).collect();
        assert_eq!(SdJwt::parse(&text).unwrap_err(), error, "{shown}");
    }
}

/// Arbitrary claims without reserved names, not too deep.
fn claims() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-e]", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn reading_never_panics(text in "\\PC*", parts in prop::collection::vec("[A-Za-z0-9_-]{0,12}", 0..6)) {
        let _ = SdJwt::parse(&text).map(|sd_jwt| sd_jwt.process());
        let _ = SdJwt::parse(&parts.join("~"));
        let jwt = unsigned(&json!({}), &[]);
        let _ = SdJwt::parse(&(jwt + &parts.join("~"))).map(|sd_jwt| sd_jwt.process());
    }

    #[test]
    fn processing_arbitrary_payloads_never_panics(
        payload in prop::collection::btree_map(prop_oneof!["_sd", "\\.\\.\\.", "_sd_alg", "[a-c]"], claims(), 0..4),
        disclosures in prop::collection::vec(claims(), 0..4),
    ) {
        let payload = Value::Object(payload.into_iter().collect());
        let disclosures: Vec<String> = disclosures.iter().map(disclosure).collect();
        if let Ok(sd_jwt) = SdJwt::parse(&unsigned(&payload, &disclosures)) {
            let _ = sd_jwt.process();
        }
    }
}

#[test]
fn a_long_name_above_many_disclosures_does_not_multiply() {
    let name = "n".repeat(64 * 1024);
    let sd_jwt = |count: usize| {
        let disclosures: Vec<String> = (0..count)
            .map(|i| base64url_encode(json!(["salt", format!("c{i}"), i]).to_string().as_bytes()))
            .collect();
        let digests: Vec<String> = disclosures
            .iter()
            .map(|disclosure| DigestAlgorithm::Sha256.digest(disclosure.as_bytes()))
            .collect();
        let payload = json!({"iss": "i", "vct": "v", name.as_str(): {"_sd": digests}});
        let jwt = jws::Unsigned::new(&json!({"alg": "ES256"}), &payload);
        let text = format!("{}~{}~", jwt.finish(b"signature"), disclosures.join("~"));
        SdJwt::parse(&text).unwrap()
    };
    assert!(sd_jwt(10).process().is_ok());
    assert!(sd_jwt(100).process().is_err());
}

#[test]
fn disclosures_share_one_budget_of_memory_with_the_payload() {
    let many = |objects: usize| Value::Array(vec![json!({ "a": 0 }); objects]);
    let hidden = |count: usize, objects: usize| -> Vec<String> {
        (0..count)
            .map(|number| disclosure(&json!(["salt", number.to_string(), many(objects)])))
            .collect()
    };
    // Each for itself is within what is read of any JSON.
    let heavy = SdJwt::parse(&unsigned(&json!({}), &hidden(18, 4_900)));
    assert_eq!(heavy.unwrap_err(), SdJwtError::TooMuch);
    let heavy = SdJwt::parse(&unsigned(&many(4_900), &[]));
    assert!(heavy.is_err());
    assert!(SdJwt::parse(&unsigned(&json!({}), &hidden(18, 50))).is_ok());
    // A long text, such as a portrait, takes no more than itself.
    let portrait = disclosure(&json!(["salt", "portrait", "x".repeat(150_000)]));
    assert!(SdJwt::parse(&unsigned(&json!({}), &[portrait])).is_ok());
}

#[test]
fn thousands_of_small_disclosures_are_within_the_budget() {
    let small: Vec<String> = (0..4_000)
        .map(|number| {
            disclosure(&json!([
                "c2FsdHNhbHRzYWx0c2Fs",
                number.to_string(),
                "value"
            ]))
        })
        .collect();
    assert!(SdJwt::parse(&unsigned(&json!({}), &small)).is_ok());
}
