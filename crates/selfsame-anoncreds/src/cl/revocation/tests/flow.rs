//! Our issuer, holder and verifier together: proofs that succeed, proofs that cannot be made, and refusals.

use std::collections::BTreeSet;

use proptest::prelude::*;
use selfsame_bignum::pairing::counts;

use super::*;

/// The revocation data of a credential in a registry.
pub(super) struct Held {
    pub(super) signature: NonRevocationCredentialSignature,
    pub(super) witness: Witness,
}

pub(super) fn issue(issuer: &Issuer, index: u32, state: &Accumulator, random: &mut Random) -> Held {
    let (blinded, blinding) = blind(&issuer.key, random);
    let context = UBig::from(1000_u32 + index);
    let request = IssueRequest {
        index,
        context: &context,
        blinded: &blinded,
        accumulator: state,
        is_active: true,
    };
    let issued = issuer.at_registry().issue(&request, random).unwrap();
    assert_eq!(issued.accumulator, *state);
    let context = IssuedContext {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: state,
        capacity: issuer.capacity,
        context: &context,
    };
    Held {
        signature: issued
            .signature
            .process(&context, &blinding, &issued.witness)
            .unwrap(),
        witness: issued.witness,
    }
}

/// Whether a proof from this credential and witness convinces a verifier that knows `state`.
fn proves(issuer: &Issuer, held: &Held, state: &Accumulator, random: &mut Random) -> bool {
    let holding = Holding {
        key: &issuer.key,
        accumulator: state,
        signature: &held.signature,
        witness: &held.witness,
    };
    let m2_mask = Scalar::from_random_bytes(&[7; 64]);
    let commitment = Commitment::new(&holding, &m2_mask, random);
    let committed = commitment.t_values();
    let challenge = challenge(&committed);
    let m2 = m2_mask.add(&challenge.mul(&held.signature.m2));
    let proof: NonRevocProof = across(&commitment.respond(&challenge));
    let registry = RegistryData {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: state,
    };
    proof.t_values(&registry, &challenge, &m2).unwrap() == committed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn after_revoking_any_set_all_others_prove_and_none_of_the_revoked_do(
        seed in any::<u8>(),
        capacity in 2_u32..9,
        sets in prop::collection::vec(prop::collection::btree_set(1_u32..8, 0..4), 1..3),
    ) {
        let mut random = random(seed);
        let issuer = Issuer::new(capacity, &mut random);
        let mut state = issuer.at_registry().initial(IssuedAtStart::ByDefault).unwrap();
        let mut list = RevocationList::new(capacity, IssuedAtStart::ByDefault).unwrap();
        let mut held: Vec<_> = (1..capacity)
            .map(|index| issue(&issuer, index, &state, &mut random))
            .collect();
        for set in sets {
            let (issued, revoked): (BTreeSet<_>, BTreeSet<_>) = set
                .into_iter()
                .filter(|index| *index < capacity)
                .partition(|index| list.is_revoked(*index).unwrap());
            let changes = Changes::new(issued, revoked).unwrap();
            list = list.changed(&changes).unwrap();
            state = issuer.at_registry().update(&state, &changes).unwrap();
            for held in &mut held {
                let index = held.signature.index();
                let context = held.signature.witness_context(&issuer.key, &issuer.registry, &state);
                let built = Witness::build(&context, &list, &issuer.tails());
                let tails = issuer.tails();
                let updated = held.witness.update(&context, &changes, &tails, capacity);
                if list.is_revoked(index).unwrap() {
                    prop_assert_eq!(built.unwrap_err(), Error::Registry("the credential is revoked"));
                    prop_assert!(updated.is_err());
                    prop_assert!(!proves(&issuer, held, &state, &mut random));
                } else {
                    let built = built.unwrap();
                    if !changes.issued().contains(&index) {
                        prop_assert_eq!(&updated.unwrap(), &built);
                    }
                    held.witness = built;
                    prop_assert!(proves(&issuer, held, &state, &mut random));
                }
            }
        }
    }
}

#[test]
fn a_proof_costs_this_many_pairings_and_no_more() {
    let mut random = random(3);
    let issuer = Issuer::new(3, &mut random);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::ByDefault)
        .unwrap();
    let held = issue(&issuer, 1, &state, &mut random);
    assert!(proves(&issuer, &held, &state, &mut random));
    let before = counts();
    assert!(proves(&issuer, &held, &state, &mut random));
    let after = counts();
    // Six pairs in three products to prove, and eleven in four to verify.
    assert_eq!(after.miller_loops - before.miller_loops, 6 + 11);
    assert_eq!(after.final_powers - before.final_powers, 3 + 4);
}
