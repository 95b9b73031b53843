//! Known answers: one seed, and every value that results from it.

use serde_json::json;

use super::*;
use selfsame_crypto::encoding::hex_encode;

#[test]
fn the_same_seed_gives_the_known_answers() {
    let known = sample!("known/revocation");
    let mut random = random(known["seed_byte"].as_u64().unwrap().try_into().unwrap());
    let issuer = Issuer::new(4, &mut random);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::ByDefault)
        .unwrap();
    let held = flow::issue(&issuer, 2, &state, &mut random);
    let changes = Changes::revoke([3]).unwrap();
    let after = issuer.at_registry().update(&state, &changes).unwrap();
    let context = held
        .signature
        .witness_context(&issuer.key, &issuer.registry, &after);
    let (tails, capacity) = (issuer.tails(), issuer.capacity);
    let witness = held.witness.update(&context, &changes, &tails, capacity);
    let witness = witness.unwrap();
    let holding = Holding {
        key: &issuer.key,
        accumulator: &after,
        signature: &held.signature,
        witness: &witness,
    };
    let mask = Scalar::from_random_bytes(&[7; 64]);
    let commitment = Commitment::new(&holding, &mask, &mut random);
    let t_values = commitment.t_values();
    let challenge = challenge(&t_values);
    let answers = json!({
        "key": issuer.key.public(),
        "private": issuer.private,
        "registry": issuer.registry,
        "gamma": issuer.gamma,
        "tails_hash": issuer.tails_hash(),
        "accumulator": state,
        "signature": held.signature,
        "witness": held.witness,
        "delta": RegistryDelta::new(Some(state), after, changes),
        "updated_witness": witness,
        "t_values": t_values.iter().map(|value| hex_encode(value)).collect::<Vec<_>>(),
        "proof": commitment.respond(&challenge),
    });
    assert_eq!(answers, known["answers"]);
}
