//! Each value goes to the published mathematics and back, and each side continues the other's steps.

use std::collections::{BTreeMap, BTreeSet};

use anoncreds_clsignatures as published;
use published::{Issuer as TheirIssuer, Prover, Verifier};

use super::*;

const ATTRIBUTES: [&str; 5] = ["age", "degree", "height", "idnumber", "name"];

/// The published implementation with the keys of the samples and its own registry.
struct Published {
    key: published::CredentialPublicKey,
    private: published::CredentialPrivateKey,
    correctness: published::CredentialKeyCorrectnessProof,
    registry: published::RevocationKeyPublic,
    gamma: published::RevocationKeyPrivate,
    state: published::RevocationRegistry,
    tails: published::SimpleTailsAccessor,
}

const CAPACITY: u32 = 5;

impl Published {
    fn new(issuance: IssuedAtStart) -> Self {
        crate::testing::take_told_path();
        let public = sample!("legacy/cred_def")["value"].clone();
        let key =
            read(&serde_json::json!({"p_key": public["primary"], "r_key": public["revocation"]}));
        let by_default = issuance == IssuedAtStart::ByDefault;
        let (registry, gamma, state, mut tails) =
            TheirIssuer::new_revocation_registry_def(&key, CAPACITY, by_default).unwrap();
        Self {
            private: read(&sample!("legacy/cred_def_private")["value"]),
            correctness: read(&sample!("legacy/key_correctness_proof")),
            tails: published::SimpleTailsAccessor::new(&mut tails).unwrap(),
            key,
            registry,
            gamma,
            state,
        }
    }

    /// Our issuer with the same keys and the same registry.
    fn ours(&self) -> Issuer {
        let samples = Issuer::of_samples();
        let mut ours = Issuer {
            registry: across(&self.registry),
            gamma: across(&self.gamma),
            capacity: CAPACITY,
            tails: TAILS_VERSION.to_vec(),
            ..samples
        };
        let points: Vec<_> = ours.at_registry().tails().unwrap().collect();
        ours.tails.extend(points.concat());
        ours
    }
}

/// One credential of the published issuer, with the data for processing and proving it.
struct Credential {
    published: Published,
    values: published::CredentialValues,
    blinded: published::BlindedCredentialSecrets,
    factors: published::CredentialSecretsBlindingFactors,
    signature: published::CredentialSignature,
    correctness: published::SignatureCorrectnessProof,
    witness: published::Witness,
    nonce: published::Nonce,
}

impl Credential {
    fn issued(published: Published, index: u32) -> Self {
        let mut hidden = Prover::new_credential_values_builder().unwrap();
        hidden
            .add_dec_hidden("master_secret", "271828182845904523")
            .unwrap();
        let hidden = hidden.finalize().unwrap();
        let mut known = TheirIssuer::new_credential_values_builder().unwrap();
        for (name, value) in ATTRIBUTES.iter().zip(["28", "2", "170", "4", "5"]) {
            known.add_dec_known(name, value).unwrap();
        }
        let known = known.finalize().unwrap();
        let nonce = published::new_nonce().unwrap();
        let (key, correctness) = (&published.key, &published.correctness);
        let (blinded, factors, proof) =
            Prover::blind_credential_secrets(key, correctness, &hidden, &nonce).unwrap();
        let mut state = published.state.clone();
        let (signature, correctness, witness, _) = TheirIssuer::sign_credential_with_revoc(
            "holder",
            &blinded,
            &proof,
            &nonce,
            &nonce,
            &known,
            key,
            &published.private,
            index,
            CAPACITY,
            true,
            &mut state,
            &published.gamma,
        )
        .unwrap();
        Self {
            values: known.merge(&hidden).unwrap(),
            published,
            blinded,
            factors,
            signature,
            correctness,
            witness,
            nonce,
        }
    }

    /// Whether the published holder accepts the credential.
    fn process(&mut self) -> bool {
        Prover::process_credential_signature(
            &mut self.signature,
            &self.values,
            &self.correctness,
            &self.factors,
            &self.published.key,
            &self.nonce,
            Some(&self.published.registry),
            Some(&self.published.state),
            Some(&self.witness),
        )
        .is_ok()
    }

    fn context(&self) -> UBig {
        number(&serde_json::to_value(&self.signature).unwrap()["p_credential"]["m_2"])
    }
}

#[test]
fn keys_that_we_make_are_read_by_the_published_implementation() {
    let mut random = random(1);
    let (public, private) = generate_key(&mut random);
    let primary = sample!("legacy/cred_def")["value"]["primary"].clone();
    let theirs: published::CredentialPublicKey =
        read(&serde_json::json!({"p_key": primary, "r_key": public}));
    let back: CredentialRevocationPublicKey = across(theirs.get_revocation_key().unwrap());
    assert_eq!(back, public);
    let theirs: published::CredentialRevocationPrivateKey = across(&private);
    assert_eq!(across::<CredentialRevocationPrivateKey>(&theirs), private);
    let (registry, gamma) = generate_registry_key(&public, 3, &mut random).unwrap();
    let theirs: published::RevocationKeyPublic = across(&registry);
    assert_eq!(across::<RevocationKeyPublic>(&theirs), registry);
    let theirs: published::RevocationKeyPrivate = across(&gamma);
    assert_eq!(across::<RevocationKeyPrivate>(&theirs), gamma);
}

#[test]
fn registries_begin_and_change_alike() {
    for issuance in [IssuedAtStart::ByDefault, IssuedAtStart::OnDemand] {
        let mut published = Published::new(issuance);
        let ours = published.ours();
        let at_registry = ours.at_registry();
        let mut state = at_registry.initial(issuance).unwrap();
        assert_eq!(
            across::<published::RevocationRegistry>(&RevocationRegistry { accum: state }),
            published.state
        );
        for (issued, revoked) in [
            (vec![], vec![1, 4]),
            (vec![4], vec![2, 3]),
            (vec![1, 2], vec![]),
        ] {
            let changes = Changes::new(
                issued.iter().copied().collect(),
                revoked.iter().copied().collect(),
            )
            .unwrap();
            let after = at_registry.update(&state, &changes).unwrap();
            let theirs = TheirIssuer::update_revocation_registry(
                &mut published.state,
                CAPACITY,
                issued.into_iter().collect(),
                revoked.into_iter().collect(),
                &published.key,
                &published.gamma,
            )
            .unwrap();
            let delta = RegistryDelta::new(Some(state), after, changes);
            assert_eq!(across::<published::RevocationRegistryDelta>(&delta), theirs);
            assert_eq!(across::<RegistryDelta>(&theirs), delta);
            state = after;
        }
    }
}

#[test]
fn tails_are_alike_and_so_are_the_witnesses_made_of_them() {
    let mut published = Published::new(IssuedAtStart::ByDefault);
    let ours = published.ours();
    let mut generator =
        TheirIssuer::revocation_tails_generator(&published.key, &published.gamma, CAPACITY)
            .unwrap();
    let mut theirs = TAILS_VERSION.to_vec();
    while let Some(tail) = generator.try_next().unwrap() {
        theirs.extend(tail.to_bytes().unwrap());
    }
    assert_eq!(ours.tails, theirs);

    let open = RevocationList::new(CAPACITY, IssuedAtStart::ByDefault).unwrap();
    let changes = Changes::revoke([1, 4]).unwrap();
    let list = open.changed(&changes).unwrap();
    let before = across(&published.state.accum);
    let delta = TheirIssuer::update_revocation_registry(
        &mut published.state,
        CAPACITY,
        BTreeSet::new(),
        BTreeSet::from([1, 4]),
        &published.key,
        &published.gamma,
    )
    .unwrap();
    let after = across(&published.state.accum);
    for index in [2, 3] {
        let g_i = ours.key.public().g.mul(&ours.gamma.power(index));
        let context = |accumulator| WitnessContext {
            key: &ours.key,
            registry: &ours.registry,
            accumulator,
            index,
            g_i: &g_i,
        };
        let first = Witness::build(&context(&before), &open, &ours.tails()).unwrap();
        let updated = first.update(&context(&after), &changes, &ours.tails(), CAPACITY);
        let updated = updated.unwrap();
        let built = Witness::build(&context(&after), &list, &ours.tails()).unwrap();
        let theirs =
            published::Witness::new(index, CAPACITY, true, &delta, &published.tails).unwrap();
        assert_eq!(across::<published::Witness>(&updated), theirs);
        assert_eq!(across::<Witness>(&theirs), built);
    }
}

#[test]
fn we_process_what_the_published_issuer_signs() {
    let mut credential = Credential::issued(Published::new(IssuedAtStart::ByDefault), 3);
    let ours = credential.published.ours();
    let values = serde_json::to_value(&credential.signature).unwrap();
    let signature: NonRevocationCredentialSignature = read(&values["r_credential"]);
    let blinding = read(&serde_json::to_value(&credential.factors).unwrap()["vr_prime"]);
    let accumulator = across(&credential.published.state.accum);
    let context = credential.context();
    let context = IssuedContext {
        key: &ours.key,
        registry: &ours.registry,
        accumulator: &accumulator,
        capacity: CAPACITY,
        context: &context,
    };
    let processed = signature
        .process(&context, &blinding, &across(&credential.witness))
        .unwrap();
    assert!(credential.process());
    let theirs = serde_json::to_value(&credential.signature).unwrap();
    assert_eq!(
        read::<NonRevocationCredentialSignature>(&theirs["r_credential"]),
        processed
    );
}

#[test]
fn the_published_holder_processes_what_we_issue() {
    for issuance in [IssuedAtStart::ByDefault, IssuedAtStart::OnDemand] {
        let mut credential = ours_in_theirs(issuance);
        assert!(credential.process());
        credential.published.state = read(&serde_json::json!({"accum": credential.published.ours()
            .at_registry().initial(IssuedAtStart::OnDemand).unwrap()}));
        assert!(!credential.process());
    }
}

/// A credential of the published issuer whose non-revocation part is replaced by ours.
fn ours_in_theirs(issuance: IssuedAtStart) -> Credential {
    let mut credential = Credential::issued(Published::new(issuance), 3);
    let ours = credential.published.ours();
    let mut values = serde_json::to_value(&credential.signature).unwrap();
    let request = IssueRequest {
        index: 3,
        context: &credential.context(),
        blinded: &read(&serde_json::to_value(&credential.blinded).unwrap()["ur"]),
        accumulator: &across(&credential.published.state.accum),
        is_active: issuance == IssuedAtStart::ByDefault,
    };
    let issued = ours.at_registry().issue(&request, &mut random(3)).unwrap();
    values["r_credential"] = serde_json::to_value(&issued.signature).unwrap();
    credential.signature = read(&values);
    credential.witness = across(&issued.witness);
    credential.published.state = across(&RevocationRegistry {
        accum: issued.accumulator,
    });
    credential
}

#[test]
fn we_accept_what_the_published_holder_proves_and_only_for_its_state() {
    let mut credential = Credential::issued(Published::new(IssuedAtStart::ByDefault), 2);
    assert!(credential.process());
    let mut builder = Prover::new_proof_builder().unwrap();
    let (schema, others) = schemas();
    builder
        .add_sub_proof_request(
            &Verifier::new_sub_proof_request_builder()
                .unwrap()
                .finalize()
                .unwrap(),
            &schema,
            &others,
            &credential.signature,
            &credential.values,
            &credential.published.key,
            Some(&credential.published.state),
            Some(&credential.witness),
        )
        .unwrap();
    let theirs = builder.finalize(&credential.nonce).unwrap();
    let proof = serde_json::to_value(&theirs).unwrap();
    let nonce = number(&serde_json::to_value(&credential.nonce).unwrap());
    let ours = credential.published.ours();
    let state = across(&credential.published.state.accum);
    assert!(hashes_to_challenge(&ours, &proof, (&state, &nonce)));
    let changes = Changes::revoke([4]).unwrap();
    let later = ours.at_registry().update(&state, &changes).unwrap();
    assert!(!hashes_to_challenge(&ours, &proof, (&later, &nonce)));
}

fn hashes_to_challenge(
    issuer: &Issuer,
    proof: &Value,
    (state, nonce): (&Accumulator, &UBig),
) -> bool {
    let key = sample!("legacy/cred_def")["value"]["primary"].clone();
    let (sub_proof, aggregated) = (&proof["proofs"][0], &proof["aggregated_proof"]);
    let primary = &sub_proof["primary_proof"]["eq_proof"];
    let challenge = number(&aggregated["c_hash"]);
    let registry = RegistryData {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: state,
    };
    let ours: NonRevocProof = read(&sub_proof["non_revoc_proof"]);
    let m2 = Scalar::from_public(&number(&primary["m2"]));
    let mut values = ours
        .t_values(&registry, &Scalar::from_public(&challenge), &m2)
        .unwrap();
    values.push(primary::t(&key, primary, &challenge));
    values.extend(read::<Vec<Vec<u8>>>(&aggregated["c_list"]));
    values.push(nonce.to_be_bytes().into());
    hash(&values) == challenge
}

#[test]
fn the_published_verifier_accepts_what_we_prove_and_only_with_the_right_witness() {
    let mut credential = ours_in_theirs(IssuedAtStart::ByDefault);
    assert!(credential.process());
    assert!(published_verifier_accepts(&credential));
    credential.published.state = read(&serde_json::json!({"accum": credential.published.ours()
        .at_registry()
        .update(&across(&credential.published.state.accum), &Changes::revoke([3]).unwrap())
        .unwrap()}));
    assert!(!published_verifier_accepts(&credential));
}

/// Whether the published verifier accepts our proof from this credential.
fn published_verifier_accepts(credential: &Credential) -> bool {
    let ours = credential.published.ours();
    let signature = serde_json::to_value(&credential.signature).unwrap();
    let key = sample!("legacy/cred_def")["value"]["primary"].clone();
    let values = serde_json::to_value(&credential.values).unwrap();
    let values: BTreeMap<String, UBig> = values["attrs_values"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| {
            let value = value.as_object().unwrap().values().next().unwrap();
            (name.clone(), number(&value["value"]))
        })
        .collect();
    let equality = primary::Equality::new(&key, signature["p_credential"].clone(), values);
    let holding = Holding {
        key: &ours.key,
        accumulator: &across(&credential.published.state.accum),
        signature: &read(&signature["r_credential"]),
        witness: &across(&credential.witness),
    };
    let m2_mask = Scalar::from_public(&primary::Equality::m2_mask());
    let commitment = Commitment::new(&holding, &m2_mask, &mut random(4));
    let mut c_list = commitment.c_values();
    c_list.push(equality.c_value());
    let mut hashed = commitment.t_values();
    hashed.push(equality.t_value());
    hashed.extend(c_list.clone());
    let nonce = published::new_nonce().unwrap();
    hashed.push(nonce.to_bytes().unwrap());
    let challenge = hash(&hashed);
    let proof: published::Proof = read(&serde_json::json!({
        "proofs": [{
            "primary_proof": equality.respond(&challenge),
            "non_revoc_proof": commitment.respond(&Scalar::from_public(&challenge)),
        }],
        "aggregated_proof": {"c_hash": challenge.to_string(), "c_list": c_list},
    }));
    let mut verifier = Verifier::new_proof_verifier().unwrap();
    let (schema, others) = schemas();
    verifier
        .add_sub_proof_request(
            &Verifier::new_sub_proof_request_builder()
                .unwrap()
                .finalize()
                .unwrap(),
            &schema,
            &others,
            &credential.published.key,
            Some(&credential.published.registry),
            Some(&credential.published.state),
        )
        .unwrap();
    verifier.verify(&proof, &nonce).unwrap()
}

fn schemas() -> (published::CredentialSchema, published::NonCredentialSchema) {
    let mut schema = TheirIssuer::new_credential_schema_builder().unwrap();
    for name in ATTRIBUTES {
        schema.add_attr(name).unwrap();
    }
    let mut others = TheirIssuer::new_non_credential_schema_builder().unwrap();
    others.add_attr("master_secret").unwrap();
    (schema.finalize().unwrap(), others.finalize().unwrap())
}

fn hash(values: &[Vec<u8>]) -> UBig {
    let parts: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    UBig::from_be_bytes(&sha256_parts(&parts))
}
