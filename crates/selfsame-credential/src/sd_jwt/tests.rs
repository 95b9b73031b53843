//! Issuing, processing and presenting, by example and for arbitrary claims.

use proptest::prelude::*;
use selfsame_crypto::{KeyType, encoding::base64url_encode};
use serde_json::{Map, Value, json};

use super::*;
use crate::{
    evidence::{Evidence, Need, Step},
    format::sd_jwt_vc::{Issue, IssueError, KeyBindingClaims, NEVER_DISCLOSED},
    path::{ClaimPath, Segment},
    testing::{NOW, Party, ctx, object},
};

fn issuer() -> Party {
    Party::new(KeyType::Ed25519)
}

fn path(value: Value) -> ClaimPath {
    ClaimPath::parse(&value).unwrap()
}

fn issue(claims: Value, disclosable: &[Value], decoys: usize) -> Issue {
    Issue {
        claims: object(claims),
        disclosable: disclosable.iter().cloned().map(path).collect(),
        decoys,
        cnf: None,
        digest: DigestAlgorithm::Sha256,
        signer: issuer().signer(),
        label: "test".to_owned(),
    }
}

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
fn what_is_issued_reads_back_whole_and_hides_what_is_not_presented() {
    let claims = json!({
        "vct": "https://types.example/id", "iss": "https://issuer.example",
        "given_name": "Ada", "address": {"locality": "Bonn", "country": "DE"},
        "nationalities": ["DE", "FR"],
    });
    let disclosable = [
        json!(["given_name"]),
        json!(["address"]),
        json!(["address", "locality"]),
        json!(["nationalities", null]),
    ];
    let issuer = issuer();
    let mut issue = issue(claims.clone(), &disclosable, 2);
    issue.signer = issuer.signer();
    let draft = issue.draft(&ctx()).unwrap();
    let signature = issuer.key.sign(draft.signing_input()).unwrap();
    let text = draft.finish(&signature);
    let sd_jwt = SdJwt::parse(&text).unwrap();
    assert!(sd_jwt.jwt().verify(issuer.key.public()).is_ok());
    assert_eq!(sd_jwt.process().unwrap().claims, claims);
    assert_eq!(sd_jwt.disclosures().len(), 5);

    let shown = sd_jwt
        .present(&[path(json!(["address", "locality"]))])
        .unwrap();
    let shown = SdJwt::parse(&shown.unbound()).unwrap();
    // The recursive disclosure of `locality` brings that of `address` along.
    assert_eq!(shown.disclosures().len(), 2);
    let expected = json!({
        "vct": "https://types.example/id", "iss": "https://issuer.example",
        "address": {"locality": "Bonn", "country": "DE"}, "nationalities": [],
    });
    assert_eq!(shown.process().unwrap().claims, expected);
    let nothing = SdJwt::parse(&sd_jwt.present(&[]).unwrap().unbound()).unwrap();
    assert!(nothing.disclosures().is_empty());
}

#[test]
fn a_path_to_a_whole_object_reveals_all_within_it_and_an_index_just_one_element() {
    let claims = json!({"vct": "v", "a": {"b": {"c": 1}, "d": 2}, "e": [1, 2, 3]});
    let disclosable = [
        json!(["a"]),
        json!(["a", "b"]),
        json!(["a", "b", "c"]),
        json!(["e", null]),
    ];
    let draft = issue(claims, &disclosable, 0).draft(&ctx()).unwrap();
    let sd_jwt = SdJwt::parse(&draft.finish(&[0; 64])).unwrap();
    let shown = |paths: &[Value]| {
        let paths: Vec<_> = paths.iter().cloned().map(path).collect();
        let text = sd_jwt.present(&paths).unwrap().unbound();
        SdJwt::parse(&text).unwrap().process().unwrap().claims
    };
    assert_eq!(
        shown(&[json!(["a"])]),
        json!({"vct": "v", "a": {"b": {"c": 1}, "d": 2}, "e": []})
    );
    assert_eq!(shown(&[json!(["e", 1])]), json!({"vct": "v", "e": [2]}));
    assert_eq!(
        shown(&[json!(["e", null])]),
        json!({"vct": "v", "e": [1, 2, 3]})
    );
}

#[test]
fn the_same_context_makes_the_same_draft_and_no_two_labels_share_a_salt() {
    let draft = |label: &str| {
        let mut issue = issue(json!({"vct": "v", "a": 1}), &[json!(["a"])], 1);
        issue.signer = Party::new(KeyType::Ed25519).signer();
        issue.label = label.to_owned();
        issue.draft(&ctx()).unwrap().disclosures().to_vec()
    };
    assert_eq!(draft("one"), draft("one"));
    assert_ne!(draft("one"), draft("two"));
}

#[test]
fn a_draft_asks_for_its_signature_and_is_done_once_it_is_there() {
    let issuer = issuer();
    let mut issue = issue(json!({"vct": "v", "a": 1}), &[json!(["a"])], 0);
    issue.signer = issuer.signer();
    let draft = issue.draft(&ctx()).unwrap();
    let mut evidence = Evidence::default();
    let Step::Needs(needs) = draft.clone().step(&evidence) else {
        panic!("the draft asks for no signature");
    };
    let [Need::Signature(request)] = needs.as_slice() else {
        panic!("{needs:?}");
    };
    let signature = issuer.key.sign(&request.bytes).unwrap();
    evidence.insert_signature(request.clone(), signature);
    let Step::Done(text) = draft.step(&evidence) else {
        panic!("still not signed");
    };
    assert!(
        SdJwt::parse(&text)
            .unwrap()
            .jwt()
            .verify(issuer.key.public())
            .is_ok()
    );
}

#[test]
fn claims_that_must_stay_in_the_clear_are_not_hidden() {
    for name in NEVER_DISCLOSED {
        let mut claims = object(json!({"vct": "v"}));
        claims.insert(name.to_owned(), json!("x"));
        let issue = issue(Value::Object(claims), &[json!([name])], 0);
        assert_eq!(
            issue.draft(&ctx()).unwrap_err(),
            IssueError::NeverDisclosed,
            "{name}"
        );
    }
    let below = issue(
        json!({"vct": "v", "cnf": {"kid": "k"}}),
        &[json!(["cnf", "kid"])],
        0,
    );
    assert_eq!(below.draft(&ctx()).unwrap_err(), IssueError::NeverDisclosed);
}

#[test]
fn reserved_names_and_missing_types_are_not_issued() {
    for name in ["_sd", "...", "_sd_alg"] {
        let claims = json!({"vct": "v", "a": {name: []}});
        let error = issue(claims, &[], 0).draft(&ctx()).unwrap_err();
        assert_eq!(error, IssueError::ReservedName, "{name}");
    }
    assert_eq!(
        issue(json!({"a": 1}), &[], 0).draft(&ctx()).unwrap_err(),
        IssueError::Type
    );
}

#[test]
fn decoys_stand_among_the_digests_and_disclose_nothing() {
    let claims = json!({"vct": "v", "a": 1, "list": [1, 2]});
    let issue = issue(claims.clone(), &[json!(["a"]), json!(["list", 0])], 3);
    let draft = issue.draft(&ctx()).unwrap();
    let sd_jwt = SdJwt::parse(&draft.finish(&[0; 64])).unwrap();
    let digests = sd_jwt.payload()["_sd"].as_array().unwrap();
    assert_eq!(digests.len(), 4);
    assert!(digests.is_sorted_by_key(|digest| digest.as_str()));
    assert_eq!(sd_jwt.payload()["list"].as_array().unwrap().len(), 5);
    assert_eq!(sd_jwt.process().unwrap().claims, claims);
}

#[test]
fn every_digest_algorithm_is_named_and_used() {
    for algorithm in [
        DigestAlgorithm::Sha256,
        DigestAlgorithm::Sha384,
        DigestAlgorithm::Sha512,
    ] {
        let mut issue = issue(json!({"vct": "v", "a": 1}), &[json!(["a"])], 0);
        issue.digest = algorithm;
        let text = issue.draft(&ctx()).unwrap().finish(&[0; 64]);
        let sd_jwt = SdJwt::parse(&text).unwrap();
        assert_eq!(sd_jwt.payload()["_sd_alg"], algorithm.as_str());
        assert_eq!(sd_jwt.process().unwrap().claims["a"], 1);
        let hash = algorithm.digest(text.as_bytes());
        assert_eq!(sd_jwt.sd_hash(), hash);
    }
    let md5 = unsigned(&json!({"_sd_alg": "md5"}), &[]);
    assert_eq!(SdJwt::parse(&md5).unwrap_err(), SdJwtError::DigestAlgorithm);
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

#[test]
fn a_key_binding_covers_exactly_what_is_presented() {
    let draft = issue(json!({"vct": "v", "a": 1}), &[json!(["a"])], 0)
        .draft(&ctx())
        .unwrap();
    let sd_jwt = SdJwt::parse(&draft.finish(&[0; 64])).unwrap();
    let holder = Party::new(KeyType::P256);
    let claims = KeyBindingClaims {
        audience: "x509_san_dns:verifier.example".to_owned(),
        nonce: "n-1".to_owned(),
        issued_at: NOW,
        further: object(json!({"aud": "somebody else"})),
    };
    let presentation = sd_jwt.present(&[]).unwrap();
    let bound = presentation.bind(&claims, holder.handle(), holder.algorithm());
    let signature = holder.key.sign(bound.signing_input()).unwrap();
    let shown = SdJwt::parse(&bound.finish(&signature)).unwrap();
    let binding = shown.key_binding().unwrap();
    assert!(binding.jwt().verify(holder.key.public()).is_ok());
    assert_eq!(binding.jwt().header.typ.as_deref(), Some("kb+jwt"));
    assert_eq!(binding.claims()["sd_hash"], shown.sd_hash());
    assert_eq!(binding.claims()["aud"], "x509_san_dns:verifier.example");
    assert_ne!(shown.sd_hash(), sd_jwt.sd_hash());
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

/// Every path that leads somewhere in `value`.
fn paths(value: &Value, trail: &mut Vec<Segment>, all: &mut Vec<ClaimPath>) {
    let steps: Vec<(Segment, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (Segment::Name(name.clone()), value))
            .collect(),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .map(|(i, value)| (Segment::Index(i), value))
            .collect(),
        _ => Vec::new(),
    };
    for (segment, value) in steps {
        trail.push(segment);
        all.push(ClaimPath::new(trail.clone()).unwrap());
        paths(value, trail, all);
        trail.pop();
    }
}

/// What is left of `value` when hidden claims are shown only if they are on a wanted path: the
/// specification of processing and presenting, written without digests.
fn project(
    value: &Value,
    trail: &mut Vec<Segment>,
    is_hidden: &dyn Fn(&[Segment]) -> bool,
    is_wanted: &dyn Fn(&[Segment]) -> bool,
) -> Value {
    let mut keep = |segment: Segment, value: &Value| {
        trail.push(segment);
        let kept = (!is_hidden(trail) || is_wanted(trail))
            .then(|| project(value, trail, is_hidden, is_wanted));
        trail.pop();
        kept
    };
    match value {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .filter_map(|(name, value)| {
                    Some((name.clone(), keep(Segment::Name(name.clone()), value)?))
                })
                .collect::<Map<_, _>>(),
        ),
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .filter_map(|(index, value)| keep(Segment::Index(index), value))
            .collect(),
        plain => plain.clone(),
    }
}

proptest! {
    #[test]
    fn what_is_presented_is_the_projection_on_what_was_chosen(
        claims in prop::collection::btree_map("[a-e]", claims(), 1..5),
        hidden in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        wanted in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        decoys in 0_usize..3,
    ) {
        let mut members: Map<String, Value> = claims.into_iter().collect();
        let mut all = Vec::new();
        paths(&Value::Object(members.clone()), &mut Vec::new(), &mut all);
        let hidden: Vec<ClaimPath> = hidden.iter().map(|index| index.get(&all).clone()).collect();
        let wanted: Vec<ClaimPath> = wanted.iter().map(|index| index.get(&all).clone()).collect();
        members.insert("vct".to_owned(), json!("v"));
        let whole = Value::Object(members.clone());

        let issue = Issue { disclosable: hidden.clone(), ..issue(whole.clone(), &[], decoys) };
        let text = issue.draft(&ctx()).unwrap().finish(&[0; 64]);
        let sd_jwt = SdJwt::parse(&text).unwrap();
        prop_assert_eq!(&sd_jwt.process().unwrap().claims, &whole);

        let shown = SdJwt::parse(&sd_jwt.present(&wanted).unwrap().unbound()).unwrap();
        let is_hidden = |trail: &[Segment]| hidden.iter().any(|path| path.segments() == trail);
        let is_wanted = |trail: &[Segment]| wanted.iter().any(|path| {
            path.segments().starts_with(trail) || trail.starts_with(path.segments())
        });
        let expected = project(&whole, &mut Vec::new(), &is_hidden, &is_wanted);
        prop_assert_eq!(shown.process().unwrap().claims, expected);
    }

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
