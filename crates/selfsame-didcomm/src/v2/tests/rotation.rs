//! Tests of `from_prior`.

use super::*;

/// A message whose `from_prior` says that its sender was `prior` before.
fn rotated(prior: &Party, now: Option<&Party>) -> Message {
    let kid = prior.document.id.with_fragment("sign").unwrap();
    let now_did = now.map(|now| now.document.id.clone());
    let algorithm = prior.signing.algorithm();
    let draft = draft_rotation(&kid, algorithm, now_did.as_ref(), UnixTime(1_516_239_022));
    let signature = prior.signing.sign(draft.signing_input()).unwrap();
    let mut message = message(now, &[]);
    message.from_prior = Some(draft.finish(&signature));
    message
}

#[test]
fn a_rotation_is_signed_by_a_key_of_the_prior_did() {
    let (prior, now) = (Party::new("alice"), Party::new("alice2"));
    for now in [Some(&now), None] {
        let message = rotated(&prior, now);
        let rotation = verify_rotation(&message, &documents(&[&prior]))
            .unwrap()
            .unwrap();
        assert_eq!(rotation.prior, prior.document.id);
        assert_eq!(rotation.now.as_ref(), now.map(|now| &now.document.id));
        assert_eq!(rotation.at, UnixTime(1_516_239_022));
        let missing = verify_rotation(&message, &Documents::new());
        assert_eq!(
            missing,
            Err(Error::Unresolved(Box::new(prior.document.id.clone())))
        );
    }
    assert_eq!(
        verify_rotation(&message(None, &[]), &Documents::new()),
        Ok(None)
    );
}

#[test]
fn a_rotation_to_another_did_or_by_another_key_is_refused() {
    let (prior, now, mallory) = (
        Party::new("alice"),
        Party::new("alice2"),
        Party::new("mallory"),
    );
    let documents = documents(&[&prior, &now, &mallory]);
    let genuine = rotated(&prior, Some(&now));
    let stolen = Message {
        from_prior: genuine.from_prior.clone(),
        ..message(Some(&mallory), &[])
    };
    let refused = verify_rotation(&stolen, &documents);
    assert_eq!(refused, Err(Error::Inconsistent(Inconsistency::Rotation)));
    let ended = Message {
        from_prior: genuine.from_prior.clone(),
        ..message(None, &[])
    };
    assert!(verify_rotation(&ended, &documents).is_err());
    // Mallory signs that Alice is he, with a key of his own.
    let kid = mallory.document.id.with_fragment("sign").unwrap();
    for (iss, kid) in [
        ("did:example:alice", kid),
        ("did:example:alice", url("did:example:alice#sign")),
    ] {
        let header = json!({ "alg": "EdDSA", "kid": kid });
        let claims = json!({ "iss": iss, "sub": "did:example:mallory", "iat": 1 });
        let draft = selfsame_crypto::jws::Unsigned::new(&header, &claims);
        let signature = mallory.signing.sign(draft.signing_input()).unwrap();
        let forged = Message {
            from_prior: Some(draft.finish(&signature)),
            ..message(Some(&mallory), &[])
        };
        assert!(verify_rotation(&forged, &documents).is_err());
    }
}

#[test]
fn a_rotation_without_a_claim_is_refused() {
    let prior = Party::new("alice");
    for (claims, header) in [
        (
            json!({ "iat": 1 }),
            json!({ "alg": "EdDSA", "kid": "did:example:alice#sign" }),
        ),
        (
            json!({ "iss": "did:example:alice" }),
            json!({ "alg": "EdDSA", "kid": "did:example:alice#sign" }),
        ),
        (
            json!({ "iss": "did:example:alice", "iat": 1 }),
            json!({ "alg": "EdDSA" }),
        ),
        (
            json!({ "iss": "did:example:alice", "iat": 1 }),
            json!({ "alg": "EdDSA", "kid": "did:example:alice" }),
        ),
        (
            json!({ "iss": 1, "iat": 1 }),
            json!({ "alg": "EdDSA", "kid": "did:example:alice#sign" }),
        ),
    ] {
        let draft = selfsame_crypto::jws::Unsigned::new(&header, &claims);
        let signature = prior.signing.sign(draft.signing_input()).unwrap();
        let message = Message {
            from_prior: Some(draft.finish(&signature)),
            ..message(None, &[])
        };
        assert!(
            verify_rotation(&message, &documents(&[&prior])).is_err(),
            "{claims}"
        );
    }
    let message = Message {
        from_prior: Some("a.b".to_owned()),
        ..message(None, &[])
    };
    assert!(verify_rotation(&message, &documents(&[&prior])).is_err());
}
