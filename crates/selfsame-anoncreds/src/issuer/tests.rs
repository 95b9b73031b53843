//! Issuing with the keys of the samples.

use std::collections::BTreeSet;

use super::*;
use crate::cl::LinkSecret;
use crate::cl::revocation::{IssuedAtStart as Begin, TailsFile};
use crate::format::{AttributeValue, Encoding, Holder, RevocationStatusList};
use crate::holder::{Expected, NamedSecret, create_credential_request, process_credential};
use crate::testing::{World, change, ctx, leaves, link_secret, sample};

mod known;
mod moved;
mod shared;

fn values() -> CredentialValues {
    CredentialValues::of([
        ("Name", "Bob"),
        ("age", "41"),
        ("Degree", "Law"),
        ("height", "-3"),
        ("id number", "7"),
    ])
}

struct Asked {
    offer: CredentialOffer,
    request: CredentialRequest,
    metadata: crate::format::CredentialRequestMetadata,
    secret: LinkSecret,
}

fn ask(world: &World) -> Asked {
    let secret = link_secret();
    let offer = create_offer(
        &world.schema_id,
        &world.cred_def_id,
        &world.correctness,
        &ctx(1),
    );
    let named = NamedSecret {
        secret: &secret,
        name: "default",
    };
    let holder = Holder::Entropy("entropy");
    let made = create_credential_request(holder, named, world.definition(), &offer, &ctx(2));
    let (request, metadata) = made.unwrap();
    Asked {
        offer,
        request,
        metadata,
        secret,
    }
}

fn place(world: &World, index: u32) -> Place<'_> {
    Place {
        registry: world.registry(),
        list: &world.lists[0],
        index,
    }
}

#[test]
fn a_credential_is_issued_and_its_holder_accepts_it() {
    let world = World::legacy();
    let asked = ask(&world);
    for place in [None, Some(place(&world, 4))] {
        let issuance = Issuance {
            offer: &asked.offer,
            request: &asked.request,
            values: &values(),
            place,
        };
        let credential = world.issuer.create_credential(&issuance, &ctx(3)).unwrap();
        let again =
            Credential::from_json(credential.to_json().unwrap().expose().as_bytes()).unwrap();
        assert_eq!(again, credential);
        assert_eq!(credential.rev_reg_id.is_some(), place.is_some());
        let mut expected = Expected {
            metadata: &asked.metadata,
            link_secret: &asked.secret,
            definition: world.definition(),
            registry: world.published(),
            encoding: Encoding::Recommended,
        };
        let processed = process_credential(&credential, &expected).unwrap();
        assert_ne!(processed.signature, credential.signature);
        let mut altered = credential.clone();
        altered
            .values
            .0
            .insert("age".into(), AttributeValue::of("42"));
        assert!(process_credential(&altered, &expected).is_err());
        expected.registry = None;
        let without = process_credential(&credential, &expected);
        assert_eq!(without.is_err(), place.is_some());
        let other = crate::holder::create_link_secret(&ctx(4));
        expected.link_secret = &other;
        assert!(process_credential(&credential, &expected).is_err());
    }
}

#[test]
fn what_does_not_belong_together_is_not_signed() {
    let world = World::legacy();
    let asked = ask(&world);
    let issue =
        |offer: &CredentialOffer, request: &CredentialRequest, values: &CredentialValues, place| {
            let issuance = Issuance {
                offer,
                request,
                values,
                place,
            };
            world.issuer.create_credential(&issuance, &ctx(3))
        };
    let (offer, request) = (&asked.offer, &asked.request);
    let mut other = offer.clone();
    other.nonce = crate::format::Nonce::new("5").unwrap();
    assert!(matches!(
        issue(&other, request, &values(), None),
        Err(Error::Proof(_))
    ));
    let mut other = offer.clone();
    other.schema_id = SchemaId::new("did:example:other").unwrap();
    assert!(matches!(
        issue(&other, request, &values(), None),
        Err(Error::Mismatch { .. })
    ));
    let mut other = request.clone();
    other.cred_def_id = CredentialDefinitionId::new("did:example:other").unwrap();
    assert!(matches!(
        issue(offer, &other, &values(), None),
        Err(Error::Mismatch { .. })
    ));
    let mut fewer = values();
    fewer.0.remove("age");
    assert!(matches!(
        issue(offer, request, &fewer, None),
        Err(Error::Mismatch { .. })
    ));
    for index in [0, 8, 9] {
        let refused = issue(offer, request, &values(), Some(place(&world, index)));
        assert!(matches!(refused, Err(Error::Registry(_))), "{index}");
    }
}

#[test]
fn two_credentials_of_one_context_share_no_randomness() {
    let world = World::legacy();
    let asked = ask(&world);
    let issue = |values: &CredentialValues| {
        let issuance = Issuance {
            offer: &asked.offer,
            request: &asked.request,
            values,
            place: None,
        };
        world.issuer.create_credential(&issuance, &ctx(3)).unwrap()
    };
    let first = issue(&values());
    assert_eq!(first, issue(&values()));
    let mut others = values();
    others.0.insert("age".into(), AttributeValue::of("42"));
    let e = |credential: &Credential| {
        serde_json::to_value(&credential.signature.p_credential).unwrap()["e"].clone()
    };
    assert_ne!(e(&first), e(&issue(&others)));
}

#[test]
fn keys_that_are_not_a_pair_are_refused() {
    let private = sample("qualified/cred_def_private.json");
    let joined = Issuer::new(sample("legacy/cred_def.json"), &private);
    assert!(matches!(joined, Err(Error::Mismatch { .. })));
}

#[test]
fn a_registry_is_made_with_its_tails_and_its_first_list() {
    let world = World::legacy();
    let new = NewRegistry {
        cred_def_id: &world.cred_def_id,
        tag: "r2",
        size: 5,
        tails_location: "somewhere",
    };
    let mut tails = Vec::new();
    let write = |bytes: &[u8]| {
        tails.extend_from_slice(bytes);
        Ok(())
    };
    let (definition, private) = world.issuer.create_registry(&new, &ctx(5), write).unwrap();
    TailsFile::checked(&tails, 5, &definition.value.tails_hash).unwrap();
    let id = crate::format::RevocationRegistryId::new("did:example:registry").unwrap();
    let registry = Registry {
        definition: &definition,
        private: &private,
    };
    for issuance in [Begin::ByDefault, Begin::OnDemand] {
        let list = world
            .issuer
            .create_status_list(&id, &registry, issuance, Some(7))
            .unwrap();
        let again = RevocationStatusList::from_json(list.to_json().unwrap().as_bytes()).unwrap();
        assert_eq!(again, list);
    }
    let none = World::qualified();
    let refused = none.issuer.create_registry(&new, &ctx(5), |_| Ok(()));
    assert!(matches!(refused, Err(Error::Mismatch { .. })));
}

#[test]
fn registries_of_two_sizes_share_no_secret_in_one_context() {
    let world = World::legacy();
    let secret = |size| {
        let new = NewRegistry {
            cred_def_id: &world.cred_def_id,
            tag: "r2",
            size,
            tails_location: "somewhere",
        };
        let (_, private) = world
            .issuer
            .create_registry(&new, &ctx(5), |_| Ok(()))
            .unwrap();
        private.to_json().unwrap().expose().to_owned()
    };
    assert_eq!(secret(5), secret(5));
    assert_ne!(secret(5), secret(6));
}

/// The updates of the samples, which the published library made.
#[test]
fn status_lists_change_as_the_published_library_changes_them() {
    let world = World::legacy();
    let [first, updated, reinstated] = world.lists.as_slice() else {
        panic!("three lists");
    };
    let update = |issued: &[u32], revoked: &[u32], timestamp| ListUpdate {
        issued: issued.iter().copied().collect::<BTreeSet<_>>(),
        revoked: revoked.iter().copied().collect(),
        timestamp,
    };
    let change = |list, update: &ListUpdate| {
        world
            .issuer
            .update_status_list(&world.registry(), list, update)
    };
    let ours = change(first, &update(&[], &[2, 5], Some(1_700_086_400))).unwrap();
    assert_eq!(&ours, updated);
    assert_eq!(
        &change(updated, &update(&[5], &[], Some(1_700_086_460))).unwrap(),
        reinstated
    );
    assert_eq!(
        &change(updated, &update(&[1], &[2, 5], None)).unwrap(),
        updated
    );
    for refused in [
        update(&[], &[0], None),
        update(&[], &[8], None),
        update(&[3], &[3], None),
    ] {
        assert!(
            matches!(change(first, &refused), Err(Error::Registry(_))),
            "{refused:?}"
        );
    }
    let made = world
        .issuer
        .create_status_list(
            &world.registry_id(),
            &world.registry(),
            Begin::ByDefault,
            first.timestamp,
        )
        .unwrap();
    assert_eq!(&made, first);
}

/// Each member of a request, changed by one digit or letter.
#[test]
fn a_request_with_one_member_changed_is_not_answered() {
    let world = World::legacy();
    let asked = ask(&world);
    let whole = serde_json::to_value(&asked.request).unwrap();
    let issued = |pointer: &String| {
        let mut value = whole.clone();
        change(&mut value, pointer);
        let Ok(request) = CredentialRequest::from_json(value.to_string().as_bytes()) else {
            return false;
        };
        let issuance = Issuance {
            offer: &asked.offer,
            request: &request,
            values: &values(),
            place: None,
        };
        world.issuer.create_credential(&issuance, &ctx(3)).is_ok()
    };
    let accepted: Vec<_> = leaves(&whole).into_iter().filter(issued).collect();
    // The holder chooses its entropy freely, and the nonce serves the holder's check of the answer.
    assert_eq!(accepted, ["/entropy", "/nonce"]);
}

/// Each member of a credential, changed by one digit or letter.
#[test]
fn a_credential_with_one_member_changed_is_not_accepted() {
    let world = World::legacy();
    let asked = ask(&world);
    let issuance = Issuance {
        offer: &asked.offer,
        request: &asked.request,
        values: &values(),
        place: Some(place(&world, 4)),
    };
    let credential = world.issuer.create_credential(&issuance, &ctx(3)).unwrap();
    let expected = Expected {
        metadata: &asked.metadata,
        link_secret: &asked.secret,
        definition: world.definition(),
        registry: world.published(),
        encoding: Encoding::Recommended,
    };
    let whole = serde_json::to_value(&credential).unwrap();
    let accepted = leaves(&whole).into_iter().filter(|pointer| {
        let mut value = whole.clone();
        change(&mut value, pointer);
        let read = Credential::from_json(value.to_string().as_bytes());
        read.and_then(|credential| process_credential(&credential, &expected))
            .is_ok()
    });
    // The place is checked together with the tails, by `check_place`.
    let accepted: Vec<_> = accepted.collect();
    assert_eq!(accepted, ["/signature/r_credential/i"]);
}

/// Each member of an offer, changed by one digit or letter.
#[test]
fn an_offer_with_one_member_changed_is_not_answered_or_gets_nothing() {
    let world = World::legacy();
    let offer = create_offer(
        &world.schema_id,
        &world.cred_def_id,
        &world.correctness,
        &ctx(1),
    );
    let whole = serde_json::to_value(&offer).unwrap();
    let secret = link_secret();
    let named = NamedSecret {
        secret: &secret,
        name: "default",
    };
    let issued = |pointer: &String| {
        let mut value = whole.clone();
        change(&mut value, pointer);
        let Ok(altered) = CredentialOffer::from_json(value.to_string().as_bytes()) else {
            return false;
        };
        // A definition that has not been used before.
        let fresh = PreparedDefinition::new(world.definition().definition().clone()).unwrap();
        let holder = Holder::Entropy("entropy");
        let Ok((request, _)) = create_credential_request(holder, named, &fresh, &altered, &ctx(2))
        else {
            return false;
        };
        let issuance = Issuance {
            offer: &offer,
            request: &request,
            values: &values(),
            place: None,
        };
        world.issuer.create_credential(&issuance, &ctx(3)).is_ok()
    };
    let accepted: Vec<_> = leaves(&whole).into_iter().filter(issued).collect();
    assert!(accepted.is_empty(), "{accepted:?}");
}
