//! Issuing, processing and presenting, by example and for arbitrary claims.

use proptest::prelude::*;
use selfsame_crypto::{KeyType, jws};
use serde_json::{Map, Value, json};

use super::{Issue, IssueError, KeyBindingClaims, NEVER_DISCLOSED};
use crate::{
    evidence::{Evidence, Need, Step},
    path::{ClaimPath, Segment},
    sd_jwt::{DigestAlgorithm, SdJwt, SdJwtError, conceal::ConcealError},
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
        let expected = IssueError::Conceal(ConcealError::ReservedName);
        assert_eq!(error, expected, "{name}");
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
    let md5 = jws::Unsigned::new(&json!({"alg": "EdDSA"}), &json!({"_sd_alg": "md5"}));
    let md5 = md5.finish(&[0; 64]) + "~";
    assert_eq!(SdJwt::parse(&md5).unwrap_err(), SdJwtError::DigestAlgorithm);
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
    let bound = claims.bind(presentation, holder.handle(), holder.algorithm());
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
}
