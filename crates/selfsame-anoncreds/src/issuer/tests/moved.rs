//! A non-revocation part cannot be moved from a good credential to a revoked one.

use selfsame_bignum::pairing::Scalar;

use super::*;
use crate::cl::credential_context;
use crate::cl::revocation::{
    Accumulator, IssueRequest, IssuedContext, NonRevocationCredentialSignature, RevocationBlinding,
    Witness,
};
use crate::holder::{Revocable, update_revocation_state};
use crate::seed::stream;
use crate::testing::{chosen, present, request, verdict};

/// Whether a holder could use this part together with the primary part whose context is `context`.
fn fits(
    world: &World,
    (context, blinding): (&dashu_int::UBig, &RevocationBlinding),
    mut part: NonRevocationCredentialSignature,
    (witness, accumulator): (&Witness, &Accumulator),
) -> bool {
    part.m2 = Scalar::from_public(context);
    let value = &world.registry.as_ref().unwrap().value;
    let issued = IssuedContext {
        key: world.definition().revocation().unwrap(),
        registry: &value.public_keys.accum_key,
        accumulator,
        capacity: value.max_cred_num,
        context,
    };
    part.process(&issued, blinding, witness).is_ok()
}

/// The credential that the issuer issues for a request, at that place of its registry.
fn issued(world: &World, asked: &Asked, index: u32) -> Credential {
    let issuance = Issuance {
        offer: &asked.offer,
        request: &asked.request,
        values: &values(),
        place: Some(place(world, index)),
    };
    world.issuer.create_credential(&issuance, &ctx(3)).unwrap()
}

#[test]
fn a_part_asked_for_under_a_guessed_context_does_not_fit_another_credential() {
    let world = World::legacy();
    let mut asked = ask(&world);
    let issue = |asked: &Asked, index| issued(&world, asked, index);
    let revoked = issue(&asked, 4).signature.p_credential.m_2.clone();
    let guess = credential_context(asked.request.holder().unwrap(), Some(5));

    // A blinded secret that turns the guessed context into the revoked credential's.
    let secret = Scalar::from_public(&dashu_int::UBig::from(12_345_u32));
    let difference = Scalar::from_public(&revoked).sub(&Scalar::from_public(&guess));
    let key = world.definition().revocation().unwrap();
    let (h1, h2) = (&key.multiples().h1, &key.multiples().h2);
    let blinded = h1.mul(&difference).add(&h2.mul(&secret));
    let blinding = RevocationBlinding(secret);

    // With the guessed context the part would fit, so the attack is built correctly.
    let request = IssueRequest {
        index: 5,
        context: &guess,
        blinded: &blinded,
        accumulator: world.lists[0].accumulator().unwrap(),
        is_active: !world.lists[0].revocation_list.is_revoked(5).unwrap(),
    };
    let registry = world.registry();
    let known = world.issuer.at(&registry).unwrap();
    let mut random = stream(&ctx(7), "test");
    let issued = known.issue(&request, &mut random).unwrap();
    let state = (&issued.witness, &issued.accumulator);
    assert!(fits(&world, (&revoked, &blinding), issued.signature, state));

    asked.request.blinded_ms.ur = Some(blinded);
    let fresh = issue(&asked, 5);
    let state = (&fresh.witness.unwrap(), &fresh.rev_reg.unwrap().accum);
    let part = fresh.signature.r_credential.unwrap();
    assert!(!fits(&world, (&revoked, &blinding), part, state));
}

#[test]
fn the_context_of_a_credential_cannot_be_computed_from_the_request_and_the_place() {
    let world = World::legacy();
    let asked = ask(&world);
    let context = |seed| {
        let issuance = Issuance {
            offer: &asked.offer,
            request: &asked.request,
            values: &values(),
            place: Some(place(&world, 4)),
        };
        let credential = world.issuer.create_credential(&issuance, &ctx(seed));
        credential.unwrap().signature.p_credential.m_2.clone()
    };
    assert_ne!(context(3), context(4));
}

/// A request for one more credential, whose blinded secret turns the context `guess` into the context `wanted`.
struct Moving {
    asked: Asked,
    secret: Scalar,
}

impl Moving {
    fn new(world: &World, wanted: &dashu_int::UBig, guess: &dashu_int::UBig) -> Self {
        let mut asked = ask(world);
        let secret = Scalar::from_public(&dashu_int::UBig::from(12_345_u32));
        let difference = Scalar::from_public(wanted).sub(&Scalar::from_public(guess));
        let key = world.definition().revocation().unwrap();
        let (h1, h2) = (&key.multiples().h1, &key.multiples().h2);
        asked.request.blinded_ms.ur = Some(h1.mul(&difference).add(&h2.mul(&secret)));
        Self { asked, secret }
    }

    /// The verifier's result for the revoked credential with the part that was issued for another one.
    fn shown(
        &self,
        world: &World,
        revoked: &Credential,
        list: &RevocationStatusList,
        part: NonRevocationCredentialSignature,
    ) -> bool {
        let mut credential = revoked.clone();
        let context = Scalar::from_public(credential.signature.p_credential.context());
        credential.signature.r_credential = Some(NonRevocationCredentialSignature {
            vr_prime_prime: part.vr_prime_prime.add(&self.secret),
            m2: context,
            ..part
        });
        let state = update_revocation_state(
            &Revocable {
                credential: &credential,
                definition: world.definition(),
                registry: world.registry.as_ref().unwrap(),
                tails: &world.tails(),
            },
            list,
            None,
        )
        .unwrap();
        let at = list.timestamp.unwrap();
        let question = request(serde_json::json!({
            "requested_attributes": { "a": { "name": "name" } }, "non_revoked": { "from": at, "to": at },
        }));
        let mut chosen = chosen(world, &credential, &["+a"]);
        chosen.state = Some(&state);
        let presentation = present(&question, &[chosen]).unwrap();
        let worlds = [World::legacy()];
        let mut known = crate::testing::known(&worlds);
        known.lists.push(list);
        verdict(&presentation, &question, &known).verdict.is_valid()
    }
}

#[test]
fn a_revoked_credential_with_the_part_of_another_one_is_not_believed() {
    let world = World::legacy();
    let asked = ask(&world);
    let issue = |asked: &Asked, index| issued(&world, asked, index);
    let expected = Expected {
        metadata: &asked.metadata,
        link_secret: &asked.secret,
        definition: world.definition(),
        registry: world.published(),
        encoding: Encoding::Recommended,
    };
    let revoked = process_credential(&issue(&asked, 4), &expected).unwrap();
    let update = ListUpdate {
        revoked: BTreeSet::from([4]),
        timestamp: Some(1_700_000_500),
        ..ListUpdate::default()
    };
    let registry = world.registry();
    let list = world
        .issuer
        .update_status_list(&registry, &world.lists[0], &update);
    let list = list.unwrap();

    let context = revoked.signature.p_credential.context();
    let guess = credential_context(asked.request.holder().unwrap(), Some(6));
    let moving = Moving::new(&world, context, &guess);
    // With the guessed context it would be accepted, so the attack is built correctly.
    let known = world.issuer.at(&registry).unwrap();
    let request = IssueRequest {
        index: 6,
        context: &guess,
        blinded: moving.asked.request.blinded_ms.ur.as_ref().unwrap(),
        accumulator: list.accumulator().unwrap(),
        is_active: true,
    };
    let mut random = stream(&ctx(7), "test");
    let part = known.issue(&request, &mut random).unwrap().signature;
    assert!(moving.shown(&world, &revoked, &list, part));

    let part = issue(&moving.asked, 6).signature.r_credential.unwrap();
    assert!(!moving.shown(&world, &revoked, &list, part));
}
