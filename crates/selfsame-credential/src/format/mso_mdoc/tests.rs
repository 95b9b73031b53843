//! Documents that are issued, held, presented and verified by the table of formats.

use std::sync::Arc;

use selfsame_crypto::encoding::base64url_decode;
use selfsame_crypto::{Algorithm, KeyHandle, KeyType, PrivateKey};
use selfsame_mdoc::certificate::CertificateRole;
use selfsame_mdoc::certificate::make::{CertificateSubject, NewCertificate};
use selfsame_mdoc::elements::{MDL, MDL_NAMESPACE, encode_element, generic};
use selfsame_mdoc::held::{ElementPath, IssuerSigned};
use selfsame_mdoc::issue::{IssuedElement, IssuedNamespace};
use selfsame_mdoc::transcript::{RedirectHandover, SessionTranscript};
use selfsame_verdict::Outcome;
use serde_json::{Value, json};

use super::{MdocIssue, MdocPresent};
use crate::evidence::{Evidence, Fetched, Need, Step};
use crate::format::Format;
use crate::held::Held;
use crate::path::ClaimPath;
use crate::signer::Signer;
use crate::status::cwt_list::{CwtListDraft, CwtTerms};
use crate::status::{Bits, List, Reference, Terms, Width, token_list};
use crate::testing::{NOW, ctx};
use crate::verdict::{Policy, Verdict};
use crate::verify::{Binding, Presented, needs, verify};

const LIST: &str = "https://issuer.example/status/0/mdoc";

/// An authority and its document signer.
struct World {
    authority: Vec<u8>,
    key: PrivateKey,
    signer: Signer,
}

fn certificate(of: &PrivateKey, by: &PrivateKey, authority: Option<&[u8]>) -> Vec<u8> {
    let role = match authority {
        Some(_) => CertificateRole::Signer,
        None => CertificateRole::Authority,
    };
    let new = NewCertificate {
        role,
        subject: CertificateSubject {
            country: "UT",
            state: None,
            organisation: Some("Utopia"),
            common_name: "Utopia",
        },
        key: of.public(),
        authority,
        serial: [9; 16],
        not_before: NOW.minus(3_600),
        not_after: NOW.plus(30 * 86_400),
        contact: "https://issuer.example/",
    };
    let draft = new.draft(by.algorithm()).unwrap();
    draft.finish(&by.sign(draft.signing_bytes()).unwrap())
}

fn key() -> PrivateKey {
    PrivateKey::generate(KeyType::P256).unwrap()
}

fn world() -> World {
    let (above, own) = (key(), key());
    let authority = certificate(&above, &above, None);
    let leaf = certificate(&own, &above, Some(&authority));
    let signer = Signer {
        key: KeyHandle::of(own.public()),
        algorithm: Algorithm::Es256,
        kid: None,
        x5c: vec![leaf],
    };
    World {
        authority,
        key: own,
        signer,
    }
}

fn elements() -> Vec<IssuedNamespace> {
    let element = |name: &'static str, value: Value| {
        let path = ElementPath {
            namespace: MDL_NAMESPACE,
            element: name,
        };
        IssuedElement {
            name: name.to_owned(),
            value: encode_element(MDL.doc_type, path, &value).unwrap(),
        }
    };
    vec![IssuedNamespace {
        name: MDL_NAMESPACE.to_owned(),
        elements: vec![
            element("family_name", json!("Mustermann")),
            element("birth_date", json!("1990-08-12")),
            element("portrait", json!("_9j_4A")),
            element("age_over_18", json!(true)),
            element("issuing_country", json!("UT")),
        ],
    }]
}

impl World {
    fn issue_to(&self, holder: &PrivateKey, namespaces: &[IssuedNamespace]) -> String {
        let issue = MdocIssue {
            doc_type: MDL.doc_type,
            namespaces,
            holder: holder.public(),
            valid_from: NOW,
            valid_until: NOW.plus(86_400),
            status: Some(Reference::token(LIST, 3)),
            decoys: 2,
            signer: &self.signer,
            label: "one",
        };
        signed(|evidence| issue.step(evidence, &ctx()).unwrap(), &self.key)
    }

    fn policy(&self) -> Policy {
        Policy {
            authorities: vec![self.authority.clone()],
            ..Policy::default()
        }
    }

    fn terms(&self) -> CwtTerms<'static> {
        CwtTerms {
            uri: LIST,
            issued_at: NOW,
            expires_at: None,
            ttl: Some(600),
            algorithm: Algorithm::Es256,
            chain: self.signer.x5c.clone(),
        }
    }

    /// Evidence with the list in which the place 3 has this value.
    fn listed(&self, value: u8, by: &PrivateKey, change: impl Fn(&mut CwtTerms<'_>)) -> Evidence {
        let mut bits = Bits::new(Width::Two, 8).unwrap();
        bits.set(3, value).unwrap();
        let mut terms = self.terms();
        change(&mut terms);
        let draft = CwtListDraft::new(&bits, terms).unwrap();
        let body = draft.finish(&by.sign(&draft.signing_bytes()).unwrap());
        having(List::parse(LIST, None, &body, NOW).unwrap())
    }
}

fn having(list: List) -> Evidence {
    let mut evidence = Evidence::default();
    let fetched = Fetched {
        value: Ok(Arc::new(list)),
        at: NOW,
    };
    evidence.insert_status_list(LIST.to_owned(), fetched);
    evidence
}

/// What a step gives once this key has signed.
fn signed(step: impl Fn(&Evidence) -> Step<String>, by: &PrivateKey) -> String {
    let mut evidence = Evidence::default();
    let Step::Needs(wanted) = step(&evidence) else {
        panic!("a signature is needed");
    };
    let Some(Need::Signature(request)) = wanted.first() else {
        panic!("a signature is needed: {wanted:?}");
    };
    let signature = by.sign(&request.bytes).unwrap();
    evidence.insert_signature(request.clone(), signature);
    match step(&evidence) {
        Step::Done(done) => done,
        Step::Needs(more) => panic!("{more:?}"),
    }
}

fn session(nonce: &str) -> SessionTranscript {
    SessionTranscript::of_redirect(&RedirectHandover {
        client_id: "x509_san_dns:verifier.example",
        nonce,
        thumbprint: None,
        response_uri: "https://verifier.example/answer",
    })
}

fn present(held: &Held, names: &[&str], by: &PrivateKey) -> String {
    let paths = names
        .iter()
        .map(|name| ClaimPath::of_names([MDL_NAMESPACE, *name]).unwrap());
    let present = MdocPresent {
        credential: &held.raw,
        reveal: &paths.collect::<Vec<_>>(),
        transcript: &session("n"),
        key: &KeyHandle::of(by.public()),
        algorithm: Algorithm::Es256,
    };
    signed(|evidence| present.step(evidence).unwrap(), by)
}

fn judged(
    raw: &str,
    nonce: &str,
    policy: &Policy,
    evidence: &Evidence,
) -> (Verdict, Option<Value>) {
    let expected = Binding {
        audience: String::new(),
        nonce: String::new(),
        session: Some(session(nonce)),
    };
    let presented = Presented {
        format: Format::MsoMdoc,
        raw,
        expected: Some(&expected),
    };
    verify(&presented, policy, evidence, NOW)
}

/// A document of many small values.
pub(crate) fn heavy(number: usize) -> String {
    let value = json!([number, vec![json!({"a": 0}); 1_000]]);
    let namespaces = [IssuedNamespace {
        name: "heavy".to_owned(),
        elements: vec![IssuedElement {
            name: "values".to_owned(),
            value: generic(&value).unwrap(),
        }],
    }];
    world().issue_to(&key(), &namespaces)
}

#[test]
fn a_document_is_issued_held_presented_in_part_and_verified() {
    let (world, holder) = (world(), key());
    let credential = world.issue_to(&holder, &elements());
    assert_eq!(Format::guess(&credential), Format::MsoMdoc);
    let held = Held::parse(&credential, Format::MsoMdoc).unwrap();
    assert_eq!(held.types(), [MDL.doc_type]);
    assert_eq!(held.holder_key().as_ref(), Some(holder.public()));
    let own = &held.claims()[MDL_NAMESPACE];
    assert_eq!(own["birth_date"], "1990-08-12");
    assert_eq!(own["portrait"], "data:image/jpeg;base64,/9j/4A==");
    assert_eq!(held.statuses(), [Reference::token(LIST, 3)]);
    assert_eq!(held.expires(), Some(NOW.plus(86_400)));

    let shown = present(&held, &["family_name", "age_over_18"], &holder);
    let good = world.listed(0, &world.key, |_| {});
    let (verdict, claims) = judged(&shown, "n", &world.policy(), &good);
    assert_eq!(verdict.outcome, Outcome::Valid, "{verdict:?}");
    let namespace = json!({"family_name": "Mustermann", "age_over_18": true});
    let wanted = json!({"docType": MDL.doc_type, MDL_NAMESPACE: namespace});
    assert_eq!(claims, Some(wanted));
    assert!(crate::verify::is_by_a_trusted_issuer(&verdict));

    let bare = Format::MsoMdoc.bare(&shown).unwrap();
    let part = Held::parse(&bare, Format::MsoMdoc).unwrap();
    let path = ClaimPath::of_names([MDL_NAMESPACE, "family_name"]).unwrap();
    let disclosing = held.disclosing(&[path]).unwrap().unwrap();
    assert_eq!(part.claims()[MDL_NAMESPACE]["age_over_18"], true);
    assert_eq!(
        disclosing.claims()[MDL_NAMESPACE]
            .as_object()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_presentation_for_another_session_or_by_another_key_is_refused() {
    let (world, holder) = (world(), key());
    let held = Held::parse(&world.issue_to(&holder, &elements()), Format::MsoMdoc).unwrap();
    let good = world.listed(0, &world.key, |_| {});
    let broken = |raw: &str, nonce| {
        let (verdict, claims) = judged(raw, nonce, &world.policy(), &good);
        assert_eq!((verdict.outcome, claims), (Outcome::Invalid, None));
        let broken = verdict.rules.iter().find(|rule| rule.passed == Some(false));
        broken.unwrap().name.to_string()
    };
    assert_eq!(
        broken(&present(&held, &["family_name"], &holder), "other"),
        "device_proof"
    );
    assert_eq!(
        broken(&present(&held, &["family_name"], &key()), "n"),
        "device_proof"
    );
    assert_eq!(broken(&held.raw, "n"), "readable");
}

#[test]
fn a_signer_of_an_authority_that_is_not_trusted_is_named_and_nothing_is_fetched_for_it() {
    let (world, holder) = (world(), key());
    let held = Held::parse(&world.issue_to(&holder, &elements()), Format::MsoMdoc).unwrap();
    let shown = present(&held, &["family_name"], &holder);
    let stranger = Policy::default();
    let presented = Presented {
        format: Format::MsoMdoc,
        raw: &held.raw,
        expected: None,
    };
    let nothing = Evidence::default();
    let (verdict, claims) = judged(&shown, "n", &stranger, &nothing);
    assert_eq!(verdict.outcome, Outcome::Untrusted, "{verdict:?}");
    assert!(claims.is_some() && !crate::verify::is_by_a_trusted_issuer(&verdict));
    assert_eq!(needs(&presented, &stranger, &nothing, NOW), Ok(Vec::new()));
    let wanted = needs(&presented, &world.policy(), &nothing, NOW);
    assert_eq!(wanted, Ok(vec![Need::StatusList(LIST.to_owned())]));
}

#[test]
fn the_status_counts_in_lists_of_both_forms_that_the_signer_or_its_authority_signed() {
    let (world, holder, other) = (world(), key(), world());
    let held = Held::parse(&world.issue_to(&holder, &elements()), Format::MsoMdoc).unwrap();
    let outcome = |evidence: &Evidence| {
        let presented = Presented {
            format: Format::MsoMdoc,
            raw: &held.raw,
            expected: None,
        };
        verify(&presented, &world.policy(), evidence, NOW).0.outcome
    };
    let by_signer = |value| outcome(&world.listed(value, &world.key, |_| {}));
    assert_eq!(by_signer(0), Outcome::Valid);
    assert_eq!(by_signer(1), Outcome::Revoked);
    assert_eq!(by_signer(2), Outcome::Suspended);
    let unknown = [
        world.listed(0, &other.key, |terms| {
            terms.chain = other.signer.x5c.clone()
        }),
        world.listed(0, &other.key, |_| {}),
        world.listed(0, &world.key, |terms| terms.chain = Vec::new()),
        Evidence::default(),
    ];
    let outcomes: Vec<Outcome> = unknown.iter().map(outcome).collect();
    assert_eq!(outcomes, [Outcome::Unverifiable; 4]);
    let mut bits = Bits::new(Width::Two, 8).unwrap();
    bits.set(3, 1).unwrap();
    let x5c = selfsame_crypto::encoding::base64_encode(&world.signer.x5c[0]);
    let header = json!({"alg": "ES256", "x5c": [x5c]});
    let terms = Terms {
        uri: LIST,
        issuer: "https://issuer.example",
        header: header.as_object().unwrap(),
        issued_at: NOW,
        expires_at: None,
        ttl: None,
    };
    let unsigned = token_list::encode(&bits, &terms).unwrap();
    let signature = world.key.sign(unsigned.signing_input()).unwrap();
    let text = unsigned.finish(&signature);
    let jwt = having(List::parse(LIST, None, text.as_bytes(), NOW).unwrap());
    assert_eq!(outcome(&jwt), Outcome::Revoked);
}

#[test]
fn the_types_of_an_authority_and_the_issuers_of_a_request_are_respected() {
    let (world, holder) = (world(), key());
    let held = Held::parse(&world.issue_to(&holder, &elements()), Format::MsoMdoc).unwrap();
    let good = world.listed(0, &world.key, |_| {});
    let digest = selfsame_crypto::hash::sha256(&world.authority);
    let name = format!(
        "x509_hash:{}",
        selfsame_crypto::encoding::base64url_encode(&digest)
    );
    let outcome = |policy: &Policy| {
        let presented = Presented {
            format: Format::MsoMdoc,
            raw: &held.raw,
            expected: None,
        };
        verify(&presented, policy, &good, NOW).0.outcome
    };
    let mut policy = world.policy();
    policy
        .issuer_types
        .insert(name.clone(), vec!["eu.europa.ec.eudi.pid.1".to_owned()]);
    assert_eq!(outcome(&policy), Outcome::Untrusted);
    policy
        .issuer_types
        .insert(name.clone(), vec![MDL.doc_type.to_owned()]);
    assert_eq!(outcome(&policy), Outcome::Valid);
    let named = |names: Vec<String>| {
        let mut policy = world.policy();
        policy
            .issuers_by_type
            .insert(MDL.doc_type.to_owned(), names);
        policy
    };
    assert_eq!(outcome(&named(vec![name])), Outcome::Valid);
    assert_eq!(
        outcome(&named(vec!["did:web:other.example".to_owned()])),
        Outcome::Untrusted
    );
}

#[test]
fn copies_that_are_made_in_one_step_have_no_random_part_in_common() {
    let (world, holder, namespaces) = (world(), key(), elements());
    let issued = |label: &'static str| {
        let issue = MdocIssue {
            doc_type: MDL.doc_type,
            namespaces: &namespaces,
            holder: holder.public(),
            valid_from: NOW,
            valid_until: NOW.plus(86_400),
            status: None,
            decoys: 2,
            signer: &world.signer,
            label,
        };
        let credential = signed(|evidence| issue.step(evidence, &ctx()).unwrap(), &world.key);
        let bytes = base64url_decode(&credential).unwrap();
        let document = IssuerSigned::parse(&bytes).unwrap();
        let items = document.namespaces[0].items.iter();
        items.map(|item| item.bytes.to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(issued("one"), issued("one"));
    let (one, two) = (issued("one"), issued("two"));
    assert!(one.iter().all(|item| !two.contains(item)));
}
