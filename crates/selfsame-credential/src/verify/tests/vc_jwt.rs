//! W3C credentials and presentations as JWTs, both data models.

use selfsame_did::{
    Did, Document, Material, Relationship, Representation, Resolution, ResolutionError,
    VerificationMethod,
};

use super::*;
use crate::{
    format::w3c::{Issue, Present},
    testing::{Party, object},
};

const MODELS: [Format; 2] = [Format::JwtVcJson, Format::VcJwt];

struct Scene {
    format: Format,
    issuer: Party,
    holder: Party,
    credential: String,
}

impl Scene {
    fn new(format: Format) -> Self {
        Self::with(format, |_| {})
    }

    fn with(format: Format, change: impl FnOnce(&mut Issue)) -> Self {
        let issuer = Party::new(KeyType::P256);
        let holder = Party::new(KeyType::Ed25519);
        let mut issue = Issue {
            format,
            issuer: issuer.did.clone(),
            subject: Some(holder.did.clone()),
            types: vec!["Degree".to_owned()],
            contexts: vec!["https://contexts.example/v1".into()],
            claims: object(json!({"degree": "BSc"})),
            id: Some("urn:uuid:1".to_owned()),
            valid_from: NOW.minus(100),
            valid_until: Some(NOW.plus(100)),
            status: None,
            token_status: None,
            cnf: None,
            further: Default::default(),
            signer: issuer.signer(),
        };
        change(&mut issue);
        let credential = issuer.sign(issue.draft().unwrap());
        Self {
            format,
            issuer,
            holder,
            credential,
        }
    }

    /// The credential with its payload (and header) changed, signed by the issuer.
    fn altered(format: Format, change: impl FnOnce(&mut Value, &mut Value)) -> Self {
        let scene = Self::new(format);
        let jwt = selfsame_crypto::jws::Compact::parse(&scene.credential).unwrap();
        let typ = jwt.header.typ.clone();
        let mut header = json!({"alg": "ES256", "typ": typ, "kid": scene.issuer.kid()});
        let mut payload = jwt.claims().unwrap();
        change(&mut header, &mut payload);
        Self {
            credential: scene.issuer.token(&header, &payload),
            ..scene
        }
    }

    fn bare(&self) -> (Verdict, Option<Value>) {
        let presented = Presented {
            format: self.format,
            raw: &self.credential,
            expected: None,
        };
        verify(&presented, &policy(), &Evidence::default(), NOW)
    }

    fn bound(&self, raw: &str) -> (Verdict, Option<Value>) {
        let binding = binding();
        let presented = Presented {
            format: self.format,
            raw,
            expected: Some(&binding),
        };
        verify(&presented, &policy(), &Evidence::default(), NOW)
    }

    fn present(&self) -> String {
        self.present_with(&self.holder, |_| {})
    }

    fn present_with(&self, by: &Party, change: impl FnOnce(&mut Present)) -> String {
        let mut present = Present {
            format: self.format,
            credential: self.credential.clone(),
            holder: Some(by.did.clone()),
            audience: AUDIENCE.to_owned(),
            nonce: NONCE.to_owned(),
            issued_at: NOW,
            lifetime: 300,
            signer: by.signer(),
        };
        change(&mut present);
        by.sign(present.draft().unwrap())
    }

    /// The presentation with the credential in it changed, signed by the holder.
    fn altered_presentation_of(&self, raw: &str, change: impl FnOnce(&str) -> String) -> String {
        let jwt = selfsame_crypto::jws::Compact::parse(raw).unwrap();
        let header = json!({"alg": "EdDSA", "typ": jwt.header.typ, "kid": jwt.header.kid});
        let mut payload = jwt.claims().unwrap();
        let place = match self.format {
            Format::JwtVcJson => &mut payload["vp"]["verifiableCredential"][0],
            _ => &mut payload["verifiableCredential"][0]["id"],
        };
        *place = json!(change(place.as_str().unwrap()));
        self.holder.token(&header, &payload)
    }

    /// The presentation with its payload (and header) changed, signed by the holder.
    fn altered_presentation(&self, change: impl FnOnce(&mut Value, &mut Value)) -> String {
        let jwt = selfsame_crypto::jws::Compact::parse(&self.present()).unwrap();
        let typ = jwt.header.typ.clone();
        let mut header = json!({"alg": "EdDSA", "typ": typ, "kid": self.holder.kid()});
        let mut payload = jwt.claims().unwrap();
        change(&mut header, &mut payload);
        self.holder.token(&header, &payload)
    }
}

#[test]
fn a_genuine_credential_is_valid_in_both_models() {
    for format in MODELS {
        let scene = Scene::new(format);
        let claims = assert_valid(&scene.bare());
        assert_eq!(claims["credentialSubject"]["degree"], "BSc");
        assert_eq!(claims["credentialSubject"]["id"], json!(scene.holder.did));
        assert_eq!(claims["issuer"], json!(scene.issuer.did));
    }
}

#[test]
fn a_genuine_presentation_is_valid_in_both_models() {
    for format in MODELS {
        let scene = Scene::new(format);
        let claims = assert_valid(&scene.bound(&scene.present()));
        assert_eq!(claims["type"], json!(["VerifiableCredential", "Degree"]));
    }
}

#[test]
fn registered_claims_stand_in_for_members_a_1_1_credential_leaves_out() {
    let scene = Scene::altered(Format::JwtVcJson, |_, payload| {
        let vc = payload["vc"].as_object_mut().unwrap();
        for member in ["issuer", "issuanceDate", "expirationDate", "id"] {
            vc.remove(member);
        }
        vc["credentialSubject"]
            .as_object_mut()
            .unwrap()
            .remove("id");
    });
    let claims = assert_valid(&scene.bare());
    assert_eq!(claims["issuer"], json!(scene.issuer.did));
    assert_eq!(claims["id"], "urn:uuid:1");
    assert_eq!(claims["credentialSubject"]["id"], json!(scene.holder.did));
    assert_eq!(claims["issuanceDate"], json!(NOW.minus(100).rfc3339()));
    assert_valid(&scene.bound(&scene.present()));
}

/// A certificate of a birth may hold since the birth.
#[test]
fn a_credential_holds_since_before_1970_if_it_says_so() {
    let born = -677_894_400;
    for stated in [true, false] {
        let old = Scene::altered(Format::JwtVcJson, |_, payload| {
            payload["nbf"] = json!(born);
            let vc = payload["vc"].as_object_mut().unwrap();
            vc.remove("issuanceDate");
            if stated {
                vc.insert("issuanceDate".to_owned(), json!("1948-07-09T00:00:00Z"));
            }
        });
        let claims = assert_valid(&old.bare());
        assert_eq!(claims["issuanceDate"], "1948-07-09T00:00:00Z");
    }
    let other = Scene::altered(Format::JwtVcJson, |_, payload| {
        payload["nbf"] = json!(born);
        payload["vc"]["issuanceDate"] = json!("1931-07-09T00:00:00Z");
    });
    assert_fails(&other.bare(), "claims_agree", Outcome::Invalid);
    let new = Scene::altered(Format::VcJwt, |_, payload| {
        payload["validFrom"] = json!("1948-07-09T00:00:00Z");
    });
    assert_valid(&new.bare());
}

#[test]
fn claims_that_contradict_the_credential_are_refused() {
    for (claim, value) in [
        ("iss", json!("did:example:other")),
        ("jti", json!("urn:uuid:2")),
        ("sub", json!("did:example:other")),
        ("nbf", json!(NOW.0 - 99)),
        ("exp", json!(NOW.0 + 99)),
    ] {
        let scene = Scene::altered(Format::JwtVcJson, |_, payload| {
            payload[claim] = value.clone()
        });
        assert_fails(&scene.bare(), "claims_agree", Outcome::Invalid);
        if ["iss", "jti", "sub"].contains(&claim) {
            let scene = Scene::altered(Format::VcJwt, |_, payload| payload[claim] = value);
            assert_fails(&scene.bare(), "claims_agree", Outcome::Invalid);
        }
    }
}

#[test]
fn a_credential_of_another_model_or_a_presentation_is_no_credential() {
    for (format, other) in [(MODELS[0], MODELS[1]), (MODELS[1], MODELS[0])] {
        let scene = Scene::new(format);
        let crossed = Scene {
            format: other,
            credential: scene.credential.clone(),
            ..scene
        };
        assert_fails(&crossed.bare(), "well_formed", Outcome::Invalid);
    }
    let scene = Scene::new(Format::JwtVcJson);
    let presentation = Scene {
        credential: scene.present(),
        ..scene
    };
    assert_fails(&presentation.bare(), "well_formed", Outcome::Invalid);
    let scene = Scene::new(Format::VcJwt);
    let presentation = Scene {
        credential: scene.present(),
        ..scene
    };
    let (verdict, claims) = presentation.bare();
    assert_eq!((verdict.outcome, claims), (Outcome::Invalid, None));
    assert!(failed(&verdict).contains(&"type_header"));
    // And a credential is no presentation.
    for format in MODELS {
        let scene = Scene::new(format);
        assert_fails(
            &scene.bound(&scene.credential),
            "well_formed",
            Outcome::Invalid,
        );
    }
}

#[test]
fn a_header_of_another_type_is_refused() {
    for (format, typ) in [
        (Format::JwtVcJson, "vc+jwt"),
        (Format::JwtVcJson, "vp+jwt"),
        (Format::VcJwt, "JWT"),
        (Format::VcJwt, "statuslist+jwt"),
    ] {
        let scene = Scene::altered(format, |header, _| header["typ"] = json!(typ));
        assert_fails(&scene.bare(), "type_header", Outcome::Invalid);
        let scene = Scene::new(format);
        let raw = scene.altered_presentation(|header, _| header["typ"] = json!("kb+jwt"));
        assert_fails(&scene.bound(&raw), "holder_type", Outcome::Invalid);
    }
}

#[test]
fn an_sd_jwt_without_its_last_tilde_is_refused_as_that() {
    for typ in ["dc+sd-jwt", "application/dc+sd-jwt"] {
        for format in MODELS {
            let scene = Scene::altered(format, |header, _| header["typ"] = json!(typ));
            let judged = scene.bare();
            assert_fails(&judged, "well_formed", Outcome::Invalid);
            let told = rule(&judged.0, "well_formed");
            assert_eq!(told.paragraph, "RFC 9901 §4");
            assert!(told.detail.contains('~'), "{}", told.detail);
        }
    }
}

#[test]
fn a_header_may_write_its_type_in_full_or_leave_it_out() {
    for (format, credential, presentation) in [
        (
            Format::VcJwt,
            json!("application/vc+jwt"),
            json!("application/vp+jwt"),
        ),
        (Format::JwtVcJson, json!("jwt"), json!("application/JWT")),
    ] {
        let scene = Scene::altered(format, |header, _| header["typ"] = credential);
        assert_valid(&scene.bare());
        let raw = scene.altered_presentation(|header, _| header["typ"] = presentation);
        assert_valid(&scene.bound(&raw));
        let untyped = Scene::altered(format, |header, _| {
            header.as_object_mut().unwrap().remove("typ");
        });
        assert_valid(&untyped.bare());
    }
}

#[test]
fn context_type_and_required_members_must_be_there() {
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 6] = [
        (
            |vc| vc["@context"] = json!(["https://contexts.example/v1"]),
            "context",
        ),
        (|vc| vc["@context"] = json!([]), "context"),
        (|vc| vc["type"] = json!(["Degree"]), "credential_type"),
        (|vc| vc["credentialSubject"] = json!([]), "required_members"),
        (
            |vc| vc["credentialSubject"] = json!(["x"]),
            "required_members",
        ),
        (
            |vc| vc["credentialSubject"] = json!("x"),
            "required_members",
        ),
    ];
    for (change, name) in changes {
        for format in MODELS {
            let scene = Scene::altered(format, |_, payload| {
                change(if format == Format::VcJwt {
                    payload
                } else {
                    &mut payload["vc"]
                });
            });
            assert_fails(&scene.bare(), name, Outcome::Invalid);
        }
    }
}

#[test]
fn the_id_of_a_credential_is_a_url_where_it_is_there() {
    let with = |format: Format, id: Option<Value>| {
        let scene = Scene::altered(format, |_, payload| {
            payload.as_object_mut().unwrap().remove("jti");
            let vc = match format {
                Format::VcJwt => payload,
                _ => &mut payload["vc"],
            };
            match id {
                Some(id) => vc["id"] = id,
                None => drop(vc.as_object_mut().unwrap().remove("id")),
            }
        });
        scene.bare()
    };
    for format in MODELS {
        assert_valid(&with(format, None));
        assert_valid(&with(format, Some(json!("https://issuer.example/1"))));
        assert_valid(&with(format, Some(json!("urn:uuid:2"))));
        for id in [
            json!(5),
            json!(["urn:uuid:2"]),
            json!({}),
            json!(null),
            json!("no URL"),
        ] {
            assert_fails(&with(format, Some(id)), "identifier", Outcome::Invalid);
        }
    }
}

#[test]
fn a_jti_that_gives_a_1_1_credential_its_id_may_be_any_string_but_must_be_one() {
    let with = |jti: Value| {
        let scene = Scene::altered(Format::JwtVcJson, |_, payload| {
            payload["vc"].as_object_mut().unwrap().remove("id");
            payload["jti"] = jti;
        });
        scene.bare()
    };
    assert_valid(&with(json!("3978344f")));
    assert_fails(&with(json!(5)), "identifier", Outcome::Invalid);
}

#[test]
fn time_counts_in_both_models_however_it_is_written() {
    for format in MODELS {
        let late = Scene::with(format, |issue| issue.valid_until = Some(NOW));
        assert_fails(&late.bare(), "expiry", Outcome::Expired);
        let early = Scene::with(format, |issue| issue.valid_from = NOW.plus(1));
        assert_fails(&early.bare(), "not_before", Outcome::NotYetValid);
    }
    let scene = Scene::altered(Format::VcJwt, |_, payload| payload["exp"] = json!(NOW.0));
    assert_fails(&scene.bare(), "expiry", Outcome::Expired);
    let scene = Scene::altered(Format::VcJwt, |_, payload| {
        payload["validUntil"] = json!("soon")
    });
    assert_fails(&scene.bare(), "times_well_formed", Outcome::Invalid);
}

#[test]
fn an_issuer_of_w3c_credentials_is_trusted_for_the_types_that_the_policy_names() {
    for format in MODELS {
        let scene = Scene::new(format);
        let raw = scene.present();
        let judged = |types: &[&str], expected: Option<&Binding>| {
            let types = types.iter().map(|name| (*name).to_owned()).collect();
            let policy = Policy {
                trusted_issuers: Trust::Listed(vec![scene.issuer.did.clone()]),
                issuer_types: [(scene.issuer.did.clone(), types)].into(),
                ..policy()
            };
            let presented = Presented {
                format,
                raw: expected.map_or(&scene.credential, |_| &raw),
                expected,
            };
            verify(&presented, &policy, &Evidence::default(), NOW)
        };
        for expected in [None, Some(&binding())] {
            assert_valid(&judged(&["Licence", "Degree"], expected));
            // `VerifiableCredential` says nothing of what it is.
            for other in [&["Licence"][..], &["VerifiableCredential"], &[]] {
                let judged = judged(other, expected);
                assert_fails(&judged, "issuer_trusted", Outcome::Untrusted);
                assert!(!is_by_a_trusted_issuer(&judged.0));
            }
        }
    }
}

#[test]
fn a_w3c_credential_is_accepted_from_the_issuers_that_the_policy_names_for_its_type() {
    for format in MODELS {
        let scene = Scene::new(format);
        let judged = |issuer: &str| {
            let policy = Policy {
                issuers_by_type: [("Degree".to_owned(), vec![issuer.to_owned()])].into(),
                ..policy()
            };
            let presented = Presented {
                format,
                raw: &scene.credential,
                expected: None,
            };
            verify(&presented, &policy, &Evidence::default(), NOW)
        };
        assert_valid(&judged(&scene.issuer.did));
        let other = judged("did:web:other.example");
        assert_fails(&other, "issuer_trusted_for_request", Outcome::Untrusted);
    }
}

#[test]
fn a_presentation_by_anybody_but_the_subject_is_refused() {
    for format in MODELS {
        let scene = Scene::new(format);
        let thief = Party::new(KeyType::Ed25519);
        // Under his own name, under the holder's, and under none.
        let own = scene.present_with(&thief, |_| {});
        assert_fails(&scene.bound(&own), "holder_key", Outcome::Invalid);
        let posing = scene.present_with(&thief, |present| {
            present.holder = Some(scene.holder.did.clone());
            present.signer.kid = Some(scene.holder.kid());
        });
        assert_fails(&scene.bound(&posing), "holder_signature", Outcome::Invalid);
        let borrowed = scene.present_with(&scene.holder, |present| {
            present.holder = Some(thief.did.clone());
        });
        assert_fails(&scene.bound(&borrowed), "holder_key", Outcome::Invalid);
        let nameless = scene.present_with(&thief, |present| present.holder = None);
        assert_fails(&scene.bound(&nameless), "holder_key", Outcome::Invalid);
    }
}

#[test]
fn a_confirmed_key_binds_in_place_of_the_subject() {
    for format in MODELS {
        let confirmed = Party::new(KeyType::P256);
        let scene = Scene::with(format, |issue| {
            issue.cnf = Some(confirmed.key.public().to_jwk());
        });
        let good = scene.present_with(&confirmed, |_| {});
        assert_valid(&scene.bound(&good));
        assert_fails(
            &scene.bound(&scene.present()),
            "holder_signature",
            Outcome::Invalid,
        );
        let unbound = Scene::with(format, |issue| issue.subject = None);
        assert_fails(
            &unbound.bound(&unbound.present()),
            "holder_key",
            Outcome::Invalid,
        );
    }
}

#[test]
fn a_presentation_for_another_verifier_request_or_time_is_refused() {
    for format in MODELS {
        let scene = Scene::new(format);
        let raw = scene.present_with(&scene.holder, |it| it.audience = "x".to_owned());
        assert_fails(&scene.bound(&raw), "holder_audience", Outcome::Invalid);
        let raw = scene.present_with(&scene.holder, |it| it.nonce = "old".to_owned());
        assert_fails(&scene.bound(&raw), "holder_nonce", Outcome::Invalid);
        let raw = scene.present_with(&scene.holder, |it| it.lifetime = 0);
        assert_fails(&scene.bound(&raw), "holder_proof_time", Outcome::Invalid);
        let raw = scene.altered_presentation(|_, payload| {
            payload.as_object_mut().unwrap().remove("nonce");
        });
        assert_fails(&scene.bound(&raw), "holder_nonce", Outcome::Invalid);
        let raw = scene.altered_presentation(|_, payload| payload["aud"] = json!([AUDIENCE]));
        assert_valid(&scene.bound(&raw));
        let raw = scene.altered_presentation(|_, it| it["aud"] = json!([AUDIENCE, "x"]));
        assert_fails(&scene.bound(&raw), "holder_audience", Outcome::Invalid);
    }
}

#[test]
fn a_presentation_holds_exactly_one_credential_in_its_own_envelope() {
    for format in MODELS {
        let scene = Scene::new(format);
        for count in [0, 2] {
            let raw = scene.altered_presentation(|_, payload| {
                let vp = if format == Format::VcJwt {
                    payload
                } else {
                    &mut payload["vp"]
                };
                let one = vp["verifiableCredential"][0].clone();
                vp["verifiableCredential"] = Value::from(vec![one; count]);
            });
            assert_fails(&scene.bound(&raw), "well_formed", Outcome::Invalid);
        }
    }
    let scene = Scene::new(Format::VcJwt);
    let raw = scene.altered_presentation(|_, payload| {
        payload["verifiableCredential"][0]["type"] = json!("VerifiableCredential");
    });
    assert_fails(&scene.bound(&raw), "well_formed", Outcome::Invalid);
    let raw = scene.altered_presentation(|_, payload| {
        payload["type"] = json!("Something");
    });
    assert_fails(&scene.bound(&raw), "presentation_type", Outcome::Invalid);
}

#[test]
fn dids_that_must_be_fetched_are_needed_and_their_absence_leaves_the_verdict_open() {
    let web = "did:web:issuer.example";
    let scene = Scene::with(Format::JwtVcJson, |issue| {
        issue.issuer = web.to_owned();
        issue.signer.kid = Some(format!("{web}#k1"));
        issue.subject = Some("did:web:holder.example".to_owned());
    });
    let binding = binding();
    let raw = scene.present_with(&scene.holder, |present| {
        present.holder = Some("did:web:holder.example".to_owned());
        present.signer.kid = Some("did:web:holder.example#k1".to_owned());
    });
    let presented = Presented {
        format: scene.format,
        raw: &raw,
        expected: Some(&binding),
    };
    let did = |did: &str| Did::parse(did).unwrap();
    let holder = did("did:web:holder.example");
    let mut evidence = Evidence::default();
    let judged = |evidence: &Evidence| {
        let wanted = needs(&presented, &policy(), evidence).unwrap();
        let (verdict, claims) = verify(&presented, &policy(), evidence, NOW);
        assert_eq!((verdict.outcome, claims), (Outcome::Unverifiable, None));
        let failed: Vec<String> = failed(&verdict).into_iter().map(str::to_owned).collect();
        (wanted, failed)
    };
    let (wanted, failed) = judged(&evidence);
    assert_eq!(wanted, [Need::Did(did(web))]);
    assert_eq!(failed, ["issuer_key"]);
    evidence.insert_did(did(web), unavailable());
    assert_eq!(judged(&evidence), (vec![], vec!["issuer_key".to_owned()]));
    let mut document = Document::new(did(web));
    let id = did(web).with_fragment("k1").unwrap();
    let method = VerificationMethod::json_web_key(id, scene.issuer.key.public());
    document.add(method, &[Relationship::AssertionMethod]);
    let resolution = Resolution::found(document, Representation::default());
    evidence.insert_did(did(web), fetched(Arc::new(resolution)));
    let (wanted, failed) = judged(&evidence);
    assert_eq!(wanted, [Need::Did(holder.clone())]);
    assert_eq!(failed, ["holder_key"]);
    evidence.insert_did(holder, unavailable());
    assert_eq!(judged(&evidence), (vec![], vec!["holder_key".to_owned()]));
}

#[test]
fn the_did_of_a_holder_is_not_fetched_where_the_issuer_is_not_proven_and_trusted() {
    let web = "did:web:holder.example";
    for format in MODELS {
        let scene = Scene::with(format, |issue| issue.subject = Some(web.to_owned()));
        let raw = scene.present_with(&scene.holder, |present| {
            present.holder = Some(web.to_owned());
            present.signer.kid = Some(format!("{web}#k1"));
        });
        let forged = scene.altered_presentation_of(&raw, |credential| {
            let (signed, signature) = credential.rsplit_once('.').unwrap();
            let other = if signature.starts_with('A') { "B" } else { "A" };
            format!("{signed}.{other}{}", &signature[1..])
        });
        let binding = binding();
        let judged = |raw: &str, issuer: &str| {
            let presented = Presented {
                format,
                raw,
                expected: Some(&binding),
            };
            let policy = Policy {
                trusted_issuers: Trust::Listed(vec![issuer.to_owned()]),
                ..policy()
            };
            let evidence = Evidence::default();
            let wanted = needs(&presented, &policy, &evidence).unwrap();
            (wanted, verify(&presented, &policy, &evidence, NOW))
        };
        let (wanted, (verdict, _)) = judged(&raw, &scene.issuer.did);
        assert_eq!(wanted, [Need::Did(Did::parse(web).unwrap())]);
        assert_eq!(failed(&verdict), ["holder_key"]);
        for (raw, issuer, name, outcome) in [
            (
                &raw,
                "did:web:other.example",
                "issuer_trusted",
                Outcome::Untrusted,
            ),
            (
                &forged,
                &*scene.issuer.did,
                "issuer_signature",
                Outcome::Invalid,
            ),
        ] {
            let (wanted, (verdict, claims)) = judged(raw, issuer);
            assert_eq!(wanted, []);
            assert_eq!((verdict.outcome, claims), (outcome, None));
            assert_eq!(failed(&verdict), [name]);
            assert_eq!(rule(&verdict, "holder_key").passed, None);
        }
    }
}

#[test]
fn a_document_that_was_taken_on_a_resolvers_word_is_named_so_in_the_verdict() {
    let did = Did::parse("did:cheqd:testnet:c1685ca0-1f5b-439c-8eb8-5c0e85ab7cd0").unwrap();
    for format in MODELS {
        let scene = Scene::with(format, |issue| {
            issue.issuer = did.as_str().to_owned();
            issue.signer.kid = Some("#k1".to_owned());
        });
        let mut document = Document::new(did.clone());
        let id = did.with_fragment("k1").unwrap();
        let method = VerificationMethod::json_web_key(id, scene.issuer.key.public());
        document.add(method, &[Relationship::AssertionMethod]);
        let proven = Resolution::found(document, Representation::default());
        let mut told = proven.clone();
        told.metadata.trusted_resolver = Some("https://resolver.example".to_owned());
        for (resolution, is_told) in [(proven, false), (told, true)] {
            let mut evidence = Evidence::default();
            evidence.insert_did(did.clone(), fetched(Arc::new(resolution)));
            let presented = Presented {
                format,
                raw: &scene.credential,
                expected: None,
            };
            let verdict = verify(&presented, &policy(), &evidence, NOW);
            assert_valid(&verdict);
            let mut rules = verdict.0.rules.iter();
            let rule = rules.find(|rule| rule.name == "issuer_key").unwrap();
            let says = rule
                .detail
                .contains("according to https://resolver.example, without a proof");
            assert_eq!(says, is_told, "{}", rule.detail);
        }
    }
}

#[test]
fn a_fetched_did_document_must_be_the_issuers_own_and_list_the_key_for_assertions() {
    let did = Did::parse("did:web:issuer.example").unwrap();
    for format in MODELS {
        let scene = Scene::with(format, |issue| {
            issue.issuer = did.as_str().to_owned();
            issue.signer.kid = Some("#k1".to_owned());
        });
        let document = |id: &Did, purpose: Relationship| {
            let mut document = Document::new(id.clone());
            let key = scene.issuer.key.public();
            let method = VerificationMethod::json_web_key(id.with_fragment("k1").unwrap(), key);
            document.add(method, &[purpose]);
            Resolution::found(document, Representation::default())
        };
        let judged = |resolution: Resolution| {
            let mut evidence = Evidence::default();
            evidence.insert_did(did.clone(), fetched(Arc::new(resolution)));
            let presented = Presented {
                format,
                raw: &scene.credential,
                expected: None,
            };
            assert_eq!(needs(&presented, &policy(), &evidence), Ok(vec![]));
            verify(&presented, &policy(), &evidence, NOW)
        };
        assert_valid(&judged(document(&did, Relationship::AssertionMethod)));
        for (member, value) in [("alg", "ES384"), ("use", "enc")] {
            let mut other = document(&did, Relationship::AssertionMethod);
            let method = &mut other.document.as_mut().unwrap().verification_method[0];
            let Material::Jwk(mut jwk) = method.material().clone() else {
                panic!("no JWK")
            };
            jwk[member] = json!(value);
            *method = method.clone().with_material(Material::Jwk(jwk));
            assert_fails(&judged(other), "issuer_key", Outcome::Invalid);
        }
        let login = document(&did, Relationship::Authentication);
        assert_fails(&judged(login), "issuer_key", Outcome::Invalid);
        let other = Did::parse("did:web:other.example").unwrap();
        let foreign = document(&other, Relationship::AssertionMethod);
        assert_fails(&judged(foreign), "issuer_key", Outcome::Invalid);
        // The right key, but in the document of somebody else, or as one of somebody else's.
        let mut foreign = document(&did, Relationship::AssertionMethod);
        foreign.document.as_mut().unwrap().id = other.clone();
        foreign.document.as_mut().unwrap().verification_method[0].controller = other.clone();
        assert_fails(&judged(foreign), "issuer_key", Outcome::Invalid);
        let gone = Resolution::deactivated(Default::default());
        assert_fails(&judged(gone), "issuer_key", Outcome::Invalid);
        let lost = Resolution::failed(ResolutionError::NotFound);
        assert_fails(&judged(lost), "issuer_key", Outcome::Unverifiable);
    }
}

#[test]
fn a_key_that_an_issuers_document_borrows_from_another_did_is_not_the_issuers() {
    let did = Did::parse("did:web:issuer.example").unwrap();
    let other = Did::parse("did:web:other.example").unwrap();
    let borrowed = other.with_fragment("k1").unwrap();
    for format in MODELS {
        let scene = Scene::with(format, |issue| {
            issue.issuer = did.as_str().to_owned();
            issue.signer.kid = Some(borrowed.to_string());
        });
        let key = scene.issuer.key.public();
        let mut method = VerificationMethod::json_web_key(borrowed.clone(), key);
        method.controller = did.clone();
        let mut document = Document::new(did.clone());
        document.add(method, &[Relationship::AssertionMethod]);
        let mut evidence = Evidence::default();
        let resolution = Resolution::found(document, Representation::default());
        evidence.insert_did(did.clone(), fetched(Arc::new(resolution)));
        let presented = Presented {
            format,
            raw: &scene.credential,
            expected: None,
        };
        let judged = verify(&presented, &policy(), &evidence, NOW);
        assert_fails(&judged, "issuer_key", Outcome::Invalid);
    }
}

#[test]
fn a_confirmed_key_that_is_not_for_these_signatures_is_refused() {
    for format in MODELS {
        for (alg, use_, operation) in [
            (Some("ES256"), None, None),
            (None, Some("enc"), None),
            (None, None, Some("encrypt")),
        ] {
            let holder = Party::new(KeyType::Ed25519);
            let scene = Scene::with(format, |issue| {
                issue.cnf = Some(selfsame_crypto::Jwk {
                    alg: alg.map(str::to_owned),
                    use_: use_.map(str::to_owned),
                    key_ops: operation.map(|name| vec![name.to_owned()]),
                    ..holder.key.public().to_jwk()
                });
            });
            let raw = scene.present_with(&holder, |_| {});
            assert_fails(&scene.bound(&raw), "holder_key", Outcome::Invalid);
        }
    }
}
