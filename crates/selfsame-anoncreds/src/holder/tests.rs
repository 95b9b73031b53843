//! The holder, tested with the samples of the published library.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::format::{IssuerId, Presentation, SchemaId, SelfAttested};
use crate::testing::{World, chosen, ctx, link_secret, present, request, sample};

#[test]
fn credentials_of_the_published_library_are_processed_as_it_does() {
    for (world, age) in [
        (World::legacy(), "legacy"),
        (World::qualified(), "qualified"),
    ] {
        let credential: Credential = sample(&format!("{age}/credential.json"));
        let metadata = sample(&format!("{age}/request_metadata.json"));
        let secret = link_secret();
        let expected = Expected {
            metadata: &metadata,
            link_secret: &secret,
            definition: world.definition(),
            registry: world.published(),
            encoding: Encoding::Recommended,
        };
        let processed = process_credential(&credential, &expected).unwrap();
        assert_eq!(
            processed,
            sample(&format!("{age}/credential_processed.json"))
        );
    }
}

#[test]
fn a_credential_in_a_registry_that_somebody_else_publishes_is_not_accepted() {
    let world = World::legacy();
    let mut registry = world.registry.clone().unwrap();
    registry.issuer_id = IssuerId::new("did:example:somebody").unwrap();
    let expected = Expected {
        metadata: &sample("legacy/request_metadata.json"),
        link_secret: &link_secret(),
        definition: world.definition(),
        registry: Some((&world.registry_id(), &registry)),
        encoding: Encoding::Recommended,
    };
    let refused = process_credential(&sample("legacy/credential.json"), &expected).unwrap_err();
    let what = RevocationRegistryDefinition::WHAT;
    assert!(
        matches!(refused, Error::Mismatch { what: of, .. } if of == what),
        "{refused}"
    );
}

#[test]
fn revocation_states_are_those_of_the_published_library() {
    let world = World::legacy();
    let credential: Credential = sample("legacy/credential_processed.json");
    let of = Revocable {
        credential: &credential,
        definition: world.definition(),
        registry: world.registry.as_ref().unwrap(),
        tails: &world.tails(),
    };
    let [first, updated, reinstated] = world.lists.as_slice() else {
        panic!("three lists");
    };
    let state = update_revocation_state(&of, first, None).unwrap();
    assert_eq!(state, sample("legacy/rev_state.json"));
    let newer = update_revocation_state(&of, updated, Some((&state, first))).unwrap();
    assert_eq!(newer, sample("legacy/rev_state_updated.json"));
    assert_eq!(update_revocation_state(&of, updated, None).unwrap(), newer);
    // A state that does not belong to the list it is given with is computed anew.
    let wrong = update_revocation_state(&of, reinstated, Some((&state, updated))).unwrap();
    assert_eq!(
        wrong,
        update_revocation_state(&of, reinstated, None).unwrap()
    );
    let mut place = serde_json::to_value(&credential).unwrap();
    place["signature"]["r_credential"]["i"] = 4.into();
    let other: Credential = serde_json::from_value(place).unwrap();
    let elsewhere = Revocable {
        credential: &other,
        ..of
    };
    let refused = update_revocation_state(&elsewhere, first, None);
    assert!(
        matches!(refused, Err(Error::Mismatch { .. })),
        "another place"
    );
    let mut other = first.clone();
    other.timestamp = None;
    assert!(matches!(
        update_revocation_state(&of, &other, None),
        Err(Error::Mismatch { .. })
    ));
}

#[test]
fn a_request_names_its_holder_as_its_definition_asks() {
    let secret = link_secret();
    let named = NamedSecret {
        secret: &secret,
        name: "default",
    };
    let ask = |world: &World, holder| {
        let (id, schema) = (&world.cred_def_id, &world.schema_id);
        let offer = crate::issuer::create_offer(schema, id, &world.correctness, &ctx(1));
        create_credential_request(holder, named, world.definition(), &offer, &ctx(2))
    };
    let did = Holder::Did("3mh1e1Vi2YDrLGmpD1Vc5J");
    let (request, metadata) = ask(&World::legacy(), did).unwrap();
    assert_eq!(request.holder().unwrap(), "3mh1e1Vi2YDrLGmpD1Vc5J");
    assert_eq!(request.nonce, metadata.nonce);
    assert!(ask(&World::legacy(), Holder::Did("acme")).is_err());
    assert!(ask(&World::qualified(), did).is_err());
    ask(&World::qualified(), Holder::Entropy("e")).unwrap();
}

#[test]
fn an_issuer_whose_key_is_not_proven_gets_no_request() {
    let world = World::legacy();
    let offer: CredentialOffer = sample("qualified/offer.json");
    let mut offer = offer;
    offer.schema_id = world.schema_id.clone();
    offer.cred_def_id = world.cred_def_id.clone();
    let secret = link_secret();
    let named = NamedSecret {
        secret: &secret,
        name: "default",
    };
    let (holder, definition) = (Holder::Entropy("e"), world.definition());
    let refused = create_credential_request(holder, named, definition, &offer, &ctx(2));
    assert!(matches!(refused, Err(Error::Issuer(_))));
}

#[test]
fn a_presentation_answers_everything_once_and_rightly() {
    let world = World::legacy();
    let credential: Credential = sample("legacy/credential_processed.json");
    let request = request(json!({
        "requested_attributes": { "a": { "name": "NAME" }, "g": { "names": ["age", "height"] } },
        "requested_predicates": { "p": { "name": "id number", "p_type": "<", "p_value": 100 } },
    }));
    let try_with =
        |referents: &[&str]| present(&request, &[chosen(&world, &credential, referents)]);
    try_with(&["+a", "+g", "p"]).unwrap();
    for refused in [
        vec!["+a", "+g"],
        vec!["+a", "p"],
        vec!["+a", "+g", "+x", "p"],
        vec!["+a", "+g", "p", "p"],
        vec!["+a", "+g", "p", "x"],
    ] {
        let error = try_with(&refused).unwrap_err();
        assert!(
            matches!(error, Error::Unsatisfied { .. }),
            "{refused:?}: {error}"
        );
    }
    let all = chosen(&world, &credential, &["+a", "+g", "p"]);
    let twice = [all.clone(), chosen(&world, &credential, &["+a"])];
    assert!(matches!(
        present(&request, &twice),
        Err(Error::Unsatisfied { .. })
    ));
}

#[test]
fn a_credential_of_another_schema_than_its_definition_says_is_not_presented() {
    let world = World::qualified();
    let mut credential: Credential = sample("qualified/credential_processed.json");
    let request = request(json!({ "requested_attributes": { "n": { "name": "city" } } }));
    assert!(present(&request, &[chosen(&world, &credential, &["+n"])]).is_ok());
    credential.schema_id = SchemaId::new("did:example:another").unwrap();
    let refused = present(&request, &[chosen(&world, &credential, &["+n"])]);
    assert!(matches!(refused, Err(Error::Mismatch { .. })));
}

#[test]
fn a_predicate_that_does_not_hold_is_not_proven() {
    let world = World::legacy();
    let credential: Credential = sample("legacy/credential_processed.json");
    for (name, value, holds) in [
        ("age", 28, true),
        ("age", 29, false),
        ("name", 1, false),
        ("x", 1, false),
    ] {
        let request = request(json!({
            "requested_predicates": { "p": { "name": name, "p_type": ">=", "p_value": value } },
        }));
        let made = present(&request, &[chosen(&world, &credential, &["p"])]);
        assert_eq!(made.is_ok(), holds, "{name} {value}");
    }
}

#[test]
fn only_what_nothing_restricts_is_self_attested() {
    let attested = BTreeMap::from([("a".to_owned(), SelfAttested("me".to_owned()))]);
    for (restrictions, allowed) in [
        (json!(null), true),
        (json!([{ "schema_name": "x" }]), false),
    ] {
        let request = request(json!({
            "requested_attributes": { "a": { "name": "name", "restrictions": restrictions } },
        }));
        let made = create_presentation(&request, &[], &attested, &link_secret(), &ctx(1));
        assert_eq!(made.is_ok(), allowed);
    }
}

#[test]
fn non_revocation_that_is_asked_for_needs_a_state() {
    let world = World::legacy();
    let credential: Credential = sample("legacy/credential_processed.json");
    let request = request(json!({
        "requested_attributes": { "a": { "name": "name" } },
        "non_revoked": { "to": 1_700_000_000 },
    }));
    let without = present(&request, &[chosen(&world, &credential, &["+a"])]);
    assert!(matches!(without, Err(Error::Unsatisfied { .. })));
}

#[test]
fn candidates_have_the_attributes_and_meet_what_restricts_them() {
    let worlds = crate::testing::worlds();
    let degree: Credential = sample("legacy/credential_processed.json");
    let city: Credential = sample("qualified/credential_processed.json");
    let owned = [(&degree, &worlds[0]), (&city, &worlds[1])].map(|(credential, world)| Owned {
        credential,
        schema: &world.schema,
        definition: world.definition(),
    });
    // A registry in which nothing is proven is not itself proven.
    let registry = degree.rev_reg_id.as_ref().unwrap().as_str();
    let request = request(json!({
        "requested_attributes": {
            "name": { "name": "NAME" },
            "city": { "name": "city", "restrictions": [{ "issuer_id": "did:example:issuer" }] },
            "maths": { "names": ["degree"], "restrictions": [{ "attr::degree::value": "Maths" }] },
            "law": { "names": ["degree"], "restrictions": [{ "attr::degree::value": "Law" }] },
            "both": { "names": ["degree", "city"] },
            "registered": { "name": "name", "restrictions": [{ "rev_reg_id": registry }] },
            "not revoked": {
                "name": "name", "restrictions": [{ "rev_reg_id": registry }], "non_revoked": { "to": 1 },
            },
        },
        "requested_predicates": {
            "adult": { "name": "age", "p_type": ">=", "p_value": 18 },
            "old": { "name": "age", "p_type": ">=", "p_value": 81 },
            "other": { "name": "age", "p_type": ">", "p_value": 1, "restrictions": { "schema_name": "x" } },
        },
    }));
    let found = candidates(&request, &owned, &[]);
    let of = |referent: &str| {
        found
            .attributes
            .get(referent)
            .or(found.predicates.get(referent))
    };
    for (referent, places) in [
        ("name", vec![0]),
        ("city", vec![1]),
        ("maths", vec![0]),
        ("adult", vec![0]),
        ("not revoked", vec![0]),
    ] {
        assert_eq!(of(referent), Some(&places), "{referent}");
    }
    let all = found.attributes.iter().chain(&found.predicates);
    let unanswered: Vec<_> = all
        .filter(|(_, places)| places.is_empty())
        .map(|(referent, _)| referent.as_str())
        .collect();
    assert_eq!(unanswered, ["both", "law", "registered", "old", "other"]);
    // A value that is not revealed meets no restriction on values.
    let found = candidates(&request, &owned, &["maths".to_owned(), "name".to_owned()]);
    assert_eq!(found.attributes["maths"], [0_usize; 0]);
    assert_eq!(found.attributes["name"], [0]);
}

#[test]
fn a_value_whose_text_is_not_what_was_signed_is_refused() {
    let world = World::legacy();
    let (metadata, secret) = (sample("legacy/request_metadata.json"), link_secret());
    let mut credential: Credential = sample("legacy/credential.json");
    let age = credential.values.0.get_mut("age").unwrap();
    age.raw = format!("{}1", age.raw);
    let process = |encoding| {
        let expected = Expected {
            metadata: &metadata,
            link_secret: &secret,
            definition: world.definition(),
            registry: world.published(),
            encoding,
        };
        process_credential(&credential, &expected).map(|_| ())
    };
    let refused = process(Encoding::Recommended).unwrap_err().to_string();
    assert!(
        refused.contains("another number than its text"),
        "{refused}"
    );
    assert!(process(Encoding::OfTheIssuer).is_ok());
}

#[test]
fn a_credential_that_names_another_registry_or_another_place_is_refused_when_it_comes() {
    let world = World::legacy();
    let (metadata, secret) = (sample("legacy/request_metadata.json"), link_secret());
    let expected = Expected {
        metadata: &metadata,
        link_secret: &secret,
        definition: world.definition(),
        registry: world.published(),
        encoding: Encoding::Recommended,
    };
    let credential: Credential = sample("legacy/credential.json");
    let place = |credential: &Credential| {
        check_place(&Revocable {
            credential,
            definition: world.definition(),
            registry: world.registry.as_ref().unwrap(),
            tails: &world.tails(),
        })
    };
    let processed = process_credential(&credential, &expected).unwrap();
    assert_eq!(place(&processed), Ok(()));

    let mut of_another = credential.clone();
    let other = RevocationRegistryId::new("did:example:registry").unwrap();
    of_another.rev_reg_id = Some(other);
    let refused = process_credential(&of_another, &expected).unwrap_err();
    assert!(
        refused.to_string().contains("another registry"),
        "{refused}"
    );
    of_another.rev_reg_id = None;
    assert!(process_credential(&of_another, &expected).is_err());

    let mut at_another = processed;
    let part = at_another.signature.r_credential.as_mut().unwrap();
    part.i = if part.i == 1 { 2 } else { 1 };
    let refused = Error::Issuer("the non-revocation part is of another place than it names");
    assert_eq!(place(&at_another), Err(refused));
    let none = sample("qualified/credential_processed.json");
    assert!(matches!(place(&none), Err(Error::Mismatch { .. })));
}

#[test]
fn what_is_shown_and_compared_at_once_is_named_by_its_referent() {
    let world = World::legacy();
    let degree: Credential = sample("legacy/credential_processed.json");
    let request = request(json!({
        "requested_attributes": { "old": { "name": "Age" } },
        "requested_predicates": { "adult": { "name": "age", "p_type": ">=", "p_value": 18 } },
    }));
    let chosen = [chosen(&world, &degree, &["+old", "adult"])];
    let refused = present(&request, &chosen).unwrap_err();
    assert!(
        matches!(&refused, Error::Unsatisfied { referent, .. } if referent == "adult"),
        "{refused}"
    );
}

#[test]
fn another_link_secret_draws_other_random_numbers_from_the_same_context() {
    let world = World::legacy();
    let offer: CredentialOffer = sample("legacy/offer.json");
    let other = create_link_secret(&ctx(7));
    let blinding = |secret: &LinkSecret| {
        let named = NamedSecret {
            secret,
            name: "default",
        };
        let (holder, definition) = (Holder::Entropy("e"), world.definition());
        let made = create_credential_request(holder, named, definition, &offer, &ctx(2));
        serde_json::to_value(made.unwrap().1).unwrap()["link_secret_blinding_data"].clone()
    };
    assert_eq!(blinding(&link_secret()), blinding(&link_secret()));
    assert_ne!(blinding(&link_secret()), blinding(&other));

    let degree: Credential = sample("legacy/credential_processed.json");
    let request = request(json!({ "requested_attributes": { "name": { "name": "name" } } }));
    let blinded = |secret: &LinkSecret| {
        let chosen = [chosen(&world, &degree, &["+name"])];
        let alone = BTreeMap::new();
        let made = create_presentation(&request, &chosen, &alone, secret, &ctx(9)).unwrap();
        made.proof.aggregated_proof.c_list
    };
    assert_eq!(blinded(&link_secret()), blinded(&link_secret()));
    assert_ne!(blinded(&link_secret()), blinded(&other));
}

#[test]
fn a_presentation_of_more_than_is_read_is_not_written() {
    let world = World::legacy();
    let degree: Credential = sample("legacy/credential_processed.json");
    for (number, is_written) in [(300, true), (310, false), (512, false)] {
        // Each with its own bound, because equal predicates count as one.
        let bounds = (0..number).map(|place| (format!("p{place}"), 18 - place));
        let asked: serde_json::Map<_, _> = bounds
            .map(|(referent, bound)| {
                let asked = json!({ "name": "age", "p_type": ">=", "p_value": bound });
                (referent, asked)
            })
            .collect();
        let referents: Vec<String> = asked.keys().cloned().collect();
        let request = request(json!({ "requested_predicates": asked }));
        let referents: Vec<&str> = referents.iter().map(String::as_str).collect();
        let made = present(&request, &[chosen(&world, &degree, &referents)]).unwrap();
        let written = made.to_json();
        if is_written {
            assert_eq!(
                Presentation::from_json(written.unwrap().as_bytes()),
                Ok(made)
            );
        } else {
            assert!(matches!(written, Err(Error::TooLarge { .. })), "{number}");
        }
    }
}
