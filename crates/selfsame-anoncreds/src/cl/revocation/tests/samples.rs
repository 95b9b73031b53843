//! The published implementation's messages, read, continued and verified.

use super::*;

#[test]
fn keys_are_written_as_they_were_read_up_to_the_representation_of_points() {
    let key = sample!("legacy/cred_def")["value"]["revocation"].clone();
    let ours: CredentialRevocationPublicKey = read(&key);
    let again: CredentialRevocationPublicKey = across(&ours);
    assert_eq!(again, ours);
    let names = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&serde_json::to_value(&ours).unwrap()), names(&key));
    let private = sample!("legacy/cred_def_private")["value"]["r_key"].clone();
    let ours: CredentialRevocationPrivateKey = read(&private);
    assert_eq!(serde_json::to_value(&ours).unwrap(), private);
    let gamma = sample!("legacy/rev_reg_def_private")["value"].clone();
    let ours: RevocationKeyPrivate = read(&gamma);
    assert_eq!(serde_json::to_value(&ours).unwrap(), gamma);
}

#[test]
fn the_private_keys_make_the_public_values_and_the_tails_file() {
    let issuer = Issuer::of_samples();
    let (key, capacity) = (issuer.key.public(), issuer.capacity);
    assert_eq!(key.g.mul(&issuer.private.sk), key.pk);
    assert_eq!(key.h_cap.mul(&issuer.private.x), key.y);
    let secret = issuer.gamma.power(capacity + 1);
    assert_eq!(
        selfsame_bignum::pairing::pair(&key.g.mul(&secret), &key.g_dash),
        issuer.registry.z
    );
    let tails: Vec<_> = issuer.at_registry().tails().unwrap().collect();
    assert_eq!([&TAILS_VERSION[..], &tails.concat()].concat(), issuer.tails);
    assert_eq!(tails_length(capacity).unwrap(), issuer.tails.len() as u64);
    assert_eq!(
        issuer.tails_hash(),
        sample!("legacy/rev_reg_def")["value"]["tailsHash"]
    );
}

#[test]
fn the_accumulator_follows_the_status_lists() {
    let issuer = Issuer::of_samples();
    let lists = [
        sample!("legacy/status_list"),
        sample!("legacy/status_list_updated"),
        sample!("legacy/status_list_reinstated"),
    ];
    let [first, updated, reinstated] = lists.map(|list| {
        let bits: RevocationList = read(&list["revocationList"]);
        let accumulator: Accumulator = read(&list["currentAccumulator"]);
        (bits, accumulator)
    });
    let at_registry = issuer.at_registry();
    assert_eq!(
        RevocationList::new(issuer.capacity, IssuedAtStart::ByDefault).unwrap(),
        first.0
    );
    assert_eq!(
        at_registry.initial(IssuedAtStart::ByDefault).unwrap(),
        first.1
    );
    for (before, after) in [(&first, &updated), (&updated, &reinstated)] {
        let changes = before.0.changes_to(&after.0).unwrap();
        assert_eq!(before.0.changed(&changes).unwrap(), after.0);
        assert_eq!(at_registry.update(&before.1, &changes).unwrap(), after.1);
    }
    let on_demand = sample!("legacy/status_list_on_demand");
    assert_eq!(
        at_registry.initial(IssuedAtStart::OnDemand).unwrap(),
        read(&on_demand["currentAccumulator"])
    );
    assert_eq!(
        RevocationList::new(issuer.capacity, IssuedAtStart::OnDemand).unwrap(),
        read(&on_demand["revocationList"])
    );
}

#[test]
fn the_holder_builds_and_updates_the_witness_of_the_samples() {
    let issuer = Issuer::of_samples();
    let signature: NonRevocationCredentialSignature =
        read(&sample!("legacy/credential")["signature"]["r_credential"]);
    let lists = [
        sample!("legacy/status_list"),
        sample!("legacy/status_list_updated"),
    ];
    let states = [
        sample!("legacy/rev_state"),
        sample!("legacy/rev_state_updated"),
    ];
    let registries = states
        .each_ref()
        .map(|state| read::<RevocationRegistry>(&state["rev_reg"]));
    let witnesses = states
        .each_ref()
        .map(|state| read::<Witness>(&state["witness"]));
    let bits = lists
        .each_ref()
        .map(|list| read::<RevocationList>(&list["revocationList"]));
    let contexts = registries
        .each_ref()
        .map(|state| signature.witness_context(&issuer.key, &issuer.registry, &state.accum));
    for ((context, bits), witness) in contexts.iter().zip(&bits).zip(&witnesses) {
        let built = Witness::build(context, bits, &issuer.tails()).unwrap();
        assert_eq!(built, *witness);
        assert_eq!(across::<Witness>(&built), *witness);
    }
    let changes = bits[0].changes_to(&bits[1]).unwrap();
    let (tails, capacity) = (issuer.tails(), issuer.capacity);
    let updated = witnesses[0].update(&contexts[1], &changes, &tails, capacity);
    assert_eq!(updated.unwrap(), witnesses[1]);
    assert!(witnesses[0].check(&contexts[1]).is_err());
}

#[test]
fn the_holder_processes_the_credential_as_the_published_implementation_does() {
    let issuer = Issuer::of_samples();
    let credential = sample!("legacy/credential");
    let processed = sample!("legacy/credential_processed");
    let blinding =
        read(&sample!("legacy/request_metadata")["link_secret_blinding_data"]["vr_prime"]);
    let accumulator = read::<RevocationRegistry>(&credential["rev_reg"]).accum;
    let context = number(&credential["signature"]["p_credential"]["m_2"]);
    let context = IssuedContext {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: &accumulator,
        capacity: issuer.capacity,
        context: &context,
    };
    let signature: NonRevocationCredentialSignature =
        read(&credential["signature"]["r_credential"]);
    let ours = signature
        .process(&context, &blinding, &read(&credential["witness"]))
        .unwrap();
    assert_eq!(ours, read(&processed["signature"]["r_credential"]));
}

#[test]
fn the_proof_of_the_samples_holds_and_no_changed_one_does() {
    let presentation = sample!("presentations/non_revoked");
    let proof = &presentation["proof"]["proofs"][0];
    let aggregated = &presentation["proof"]["aggregated_proof"];
    let ours: NonRevocProof = read(&proof["non_revoc_proof"]);
    let c_list: Vec<Vec<u8>> = read(&aggregated["c_list"]);
    assert_eq!(ours.c_values(), c_list[..7]);
    assert_eq!(across::<NonRevocProof>(&ours), ours);
    assert!(holds(&ours, &presentation));
    for name in proof["non_revoc_proof"]["x_list"]
        .as_object()
        .unwrap()
        .keys()
    {
        let mut changed = proof["non_revoc_proof"].clone();
        changed["x_list"][name] = Value::from("01".repeat(32));
        assert!(!holds(&read(&changed), &presentation), "{name}");
    }
    for (name, other) in [
        ("e", "d"),
        ("d", "a"),
        ("a", "g"),
        ("g", "e"),
        ("w", "s"),
        ("s", "u"),
        ("u", "w"),
    ] {
        let mut changed = proof["non_revoc_proof"].clone();
        changed["c_list"][name] = changed["c_list"][other].clone();
        assert!(!holds(&read(&changed), &presentation), "{name}");
    }
}

/// Whether a presentation with this non-revocation proof hashes to its challenge.
fn holds(proof: &NonRevocProof, presentation: &Value) -> bool {
    let issuer = Issuer::of_samples();
    let aggregated = &presentation["proof"]["aggregated_proof"];
    let primary = &presentation["proof"]["proofs"][0]["primary_proof"]["eq_proof"];
    let challenge = number(&aggregated["c_hash"]);
    let accumulator = read(&sample!("legacy/status_list")["currentAccumulator"]);
    let registry = RegistryData {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: &accumulator,
    };
    let m2 = Scalar::from_public(&number(&primary["m2"]));
    let Ok(mut values) = proof.t_values(&registry, &Scalar::from_public(&challenge), &m2) else {
        return false;
    };
    let key = sample!("legacy/cred_def")["value"]["primary"].clone();
    values.push(primary::t(&key, primary, &challenge));
    values.extend(read::<Vec<Vec<u8>>>(&aggregated["c_list"]));
    let nonce = number(&sample!("presentations/non_revoked.request")["nonce"]);
    values.push(nonce.to_be_bytes().to_vec());
    let parts: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    UBig::from_be_bytes(&sha256_parts(&parts)) == challenge
}
