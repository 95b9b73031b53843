//! Wrong inputs of each kind, and the reason for each refusal.

use super::*;

/// A point of the twist, but not of the subgroup: x = 4 + i.
const STRAY: &str = "1 0055B2F5905F417D09F0827F18F51D0CC1BEFFFDE22200A878FFFFFDF41EA28D \
                     1 095E45DDF417D05FB10933FFC63D474548B7FFFF7888802F07FFFFFF7D07A8A8 \
                     1 040173ED62E18DFE353AEBD21763D7760BB7F4BB96F4B46AD4F9FD79E2826685 \
                     1 066CC5F65F5E5845E46EE7917878E99B81D7F30C0A4C527B52BC65C6D0C7A92D \
                     1 095E45DDF417D05FB10933FFC63D474548B7FFFF7888802F07FFFFFF7D07A8A8 \
                     1 0000000000000000000000000000000000000000000000000000000000000000";
/// The point `STRAY` in the form of a tails file.
const STRAY_TAIL: [&str; 4] = [
    "0000000000000000000000000000000000000000000000000000000000000004",
    "0000000000000000000000000000000000000000000000000000000000000001",
    "0203c3809bb35ba4364ef598052128c6cd3042a5773acdcc88e0ffe03d1effbe",
    "0f1f62c28bc5f5caf11a7e0f3b873967a312feaa1c28b01bf51a3fe9f6332498",
];

/// A message, its name, and whether a text can be read as that message.
type Message = (&'static str, Value, fn(&Value) -> bool);

/// Every message with points in it, as the published implementation wrote it.
fn messages() -> [Message; 5] {
    fn reads<T: DeserializeOwned>(value: &Value) -> bool {
        T::deserialize(value).is_ok()
    }
    let proof = &sample!("presentations/non_revoked")["proof"]["proofs"][0];
    [
        (
            "key",
            sample!("legacy/cred_def")["value"]["revocation"].clone(),
            reads::<CredentialRevocationPublicKey>,
        ),
        (
            "registry key",
            sample!("legacy/rev_reg_def")["value"]["publicKeys"]["accumKey"].clone(),
            reads::<RevocationKeyPublic>,
        ),
        (
            "signature",
            sample!("legacy/credential")["signature"]["r_credential"].clone(),
            reads::<NonRevocationCredentialSignature>,
        ),
        (
            "proof",
            proof["non_revoc_proof"].clone(),
            reads::<NonRevocProof>,
        ),
        (
            "witness",
            sample!("legacy/credential")["witness"].clone(),
            reads::<Witness>,
        ),
    ]
}

/// The paths of all texts in a message.
fn texts(value: &Value, path: &str, found: &mut Vec<(String, usize)>) {
    if let Some(text) = value.as_str() {
        found.push((path.to_owned(), text.split(' ').count() / 2));
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        texts(inner, &format!("{path}/{name}"), found);
    }
}

#[test]
fn points_off_their_curve_neutral_or_outside_of_the_subgroup_are_not_read() {
    for (name, message, reads) in messages() {
        assert!(reads(&message), "{name}");
        let mut paths = Vec::new();
        texts(&message, "", &mut paths);
        assert!(!paths.is_empty());
        for (path, numbers) in paths.into_iter().filter(|(_, numbers)| *numbers > 0) {
            let good = message.pointer(&path).unwrap().as_str().unwrap();
            let neutral = match numbers {
                3 => "1 00 2 095E45DDF417D05FB10933FFC63D474548B7FFFF7888802F07FFFFFF7D07A8A8 1 00".into(),
                6 => "1 00 1 00 2 095E45DDF417D05FB10933FFC63D474548B7FFFF7888802F07FFFFFF7D07A8A8 1 00 1 00 1 00"
                    .into(),
                _ => vec!["1 00"; numbers].join(" "),
            };
            let (_, moved) = good.split_once(' ').unwrap();
            let (_, moved) = moved.split_once(' ').unwrap();
            let mut bad = vec![
                format!("1 01 {moved}"),
                format!("{good} 1 00"),
                moved.to_owned(),
            ];
            if name != "witness" {
                bad.push(neutral);
            }
            if numbers == 6 {
                bad.push(STRAY.to_owned());
            }
            for text in bad {
                let mut changed = message.clone();
                *changed.pointer_mut(&path).unwrap() = Value::from(text.as_str());
                assert!(!reads(&changed), "{name}{path}: {text}");
            }
        }
    }
}

#[test]
fn messages_with_missing_extra_or_repeated_parts_are_not_read() {
    for (name, message, reads) in messages() {
        for part in message.as_object().unwrap().keys() {
            let mut changed = message.clone();
            changed.as_object_mut().unwrap().remove(part);
            assert!(!reads(&changed), "{name} without {part}");
        }
        let mut changed = message.clone();
        changed["more"] = Value::from(1);
        assert!(!reads(&changed), "{name} with more");
    }
    let (_, proof, _) = &messages()[3];
    for (outer, inner) in [("x_list", "rho"), ("c_list", "w")] {
        let mut changed = proof.clone();
        changed[outer].as_object_mut().unwrap().remove(inner);
        assert!(serde_json::from_value::<NonRevocProof>(changed).is_err());
        let list = serde_json::to_string(&proof[outer]).unwrap();
        let part = format!("\"{inner}\":{}", proof[outer][inner]);
        let repeated = list.replace(&part, &format!("{part},{part}"));
        let text = serde_json::to_string(proof)
            .unwrap()
            .replace(&list, &repeated);
        let error = serde_json::from_str::<NonRevocProof>(&text).unwrap_err();
        assert!(error.to_string().contains("duplicate"), "{error}");
    }
    let mut unlinked = proof.clone();
    unlinked["x_list"]["m2"] = unlinked["x_list"]["m"].clone();
    assert!(serde_json::from_value::<NonRevocProof>(unlinked).is_err());
}

#[test]
fn a_delta_names_each_index_once_and_in_range() {
    let accumulator = sample!("legacy/status_list")["currentAccumulator"].clone();
    let delta = |revoked: &str| {
        serde_json::from_str::<RegistryDelta>(&format!(
            "{{\"accum\":{accumulator},\"revoked\":{revoked}}}"
        ))
    };
    assert!(delta("[1,7]").is_ok());
    for revoked in ["[0]", "[3,3]", "[1048577]", "[-1]", "[4294967296]", "7"] {
        assert!(delta(revoked).is_err(), "{revoked}");
    }
    let both = format!("{{\"accum\":{accumulator},\"revoked\":[2],\"issued\":[2]}}");
    let both: RegistryDelta = serde_json::from_str(&both).unwrap();
    assert_eq!(
        both.changes(),
        Err(Error::Registry("an index is both issued and revoked"))
    );
}

#[test]
fn a_tails_file_that_is_not_the_one_of_the_definition_is_refused() {
    let issuer = Issuer::of_samples();
    let (hash, capacity) = (issuer.tails_hash(), issuer.capacity);
    let why = |tails: &[u8], capacity, hash: &str| match TailsFile::checked(tails, capacity, hash) {
        Ok(_) => "",
        Err(Error::Mismatch { why, .. } | Error::Malformed { why, .. }) => why,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(why(&issuer.tails, capacity, &hash), "");
    let wrong_hash = "its hash is not the one in the registry's definition";
    assert_eq!(
        why(
            &issuer.tails,
            capacity,
            "91zvq2cFmBZmHCcLqFyzv7bfehHH5rMhdAG5wTjqy2PE"
        ),
        wrong_hash
    );
    for place in [2, 130, issuer.tails.len() - 1] {
        let mut changed = issuer.tails.clone();
        changed[place] ^= 1;
        assert_eq!(why(&changed, capacity, &hash), wrong_hash, "{place}");
    }
    let wrong_length = "its length is not that of the registry's size";
    assert_eq!(why(&issuer.tails[1..], capacity, &hash), wrong_length);
    assert_eq!(why(&[], capacity, &hash), wrong_length);
    assert_eq!(why(&issuer.tails, capacity + 1, &hash), wrong_length);
    let mut other_version = issuer.tails.clone();
    other_version[1] = 1;
    assert_eq!(
        why(&other_version, capacity, &hash),
        "its version is unknown"
    );
    assert!(TailsFile::checked(&[], 0, &hash).is_err());
    assert!(TailsFile::checked(&[], u32::MAX, &hash).is_err());
    assert!(issuer.tails().tail(2 * capacity + 1).is_err());
}

/// Tails one of which was replaced, as a malicious issuer could publish them with a matching hash.
struct Replaced<'a>(TailsFile<'a>, [u8; TAIL_LENGTH]);

impl Tails for Replaced<'_> {
    fn tail(&self, index: u32) -> Result<[u8; TAIL_LENGTH], Error> {
        if index == 5 {
            Ok(self.1)
        } else {
            self.0.tail(index)
        }
    }
}

#[test]
fn tails_that_are_no_points_of_the_group_or_not_the_right_ones_make_no_witness() {
    let issuer = Issuer::of_samples();
    let mut random = random(5);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::ByDefault)
        .unwrap();
    let held = flow::issue(&issuer, 3, &state, &mut random);
    let list = RevocationList::new(issuer.capacity, IssuedAtStart::ByDefault).unwrap();
    let context = held
        .signature
        .witness_context(&issuer.key, &issuer.registry, &state);
    let why = |tail| match Witness::build(&context, &list, &Replaced(issuer.tails(), tail)) {
        Ok(_) => "",
        Err(Error::Mismatch { why, .. } | Error::Malformed { why, .. }) => why,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(why(issuer.tails().tail(5).unwrap()), "");
    let other = "it does not belong to this state of the registry";
    assert_eq!(why(issuer.tails().tail(6).unwrap()), other);
    assert_eq!(why([0; TAIL_LENGTH]), "it is not on the curve");
    assert_eq!(
        why([0xFF; TAIL_LENGTH]),
        "a coordinate is not below the modulus"
    );
    let mut stray = [0; TAIL_LENGTH];
    let numbers = STRAY_TAIL
        .iter()
        .map(|number| UBig::from_str_radix(number, 16).unwrap());
    for (chunk, number) in stray.chunks_mut(32).zip(numbers) {
        let bytes = number.to_be_bytes();
        chunk[32 - bytes.len()..].copy_from_slice(&bytes);
    }
    assert_eq!(why(stray), "it is not in the group");
}

#[test]
fn indices_out_of_range_are_neither_issued_nor_changed_nor_witnessed() {
    let mut random = random(6);
    let issuer = Issuer::new(3, &mut random);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::OnDemand)
        .unwrap();
    let (blinded, _) = blind(&issuer.key, &mut random);
    let out_of_range = Error::Registry("the index is out of range");
    for index in [0, 4, u32::MAX] {
        let request = IssueRequest {
            index,
            context: &UBig::ONE,
            blinded: &blinded,
            accumulator: &state,
            is_active: false,
        };
        let issued = issuer.at_registry().issue(&request, &mut random);
        assert_eq!(issued.unwrap_err(), out_of_range);
        let g_i = selfsame_bignum::pairing::G1::generator();
        let context = WitnessContext {
            key: &issuer.key,
            registry: &issuer.registry,
            accumulator: &state,
            index,
            g_i: &g_i,
        };
        let list = RevocationList::new(3, IssuedAtStart::ByDefault).unwrap();
        let witness = Witness::build(&context, &list, &issuer.tails());
        assert_eq!(witness.unwrap_err(), out_of_range);
    }
    let changes = Changes::revoke([4]).unwrap();
    assert_eq!(
        issuer.at_registry().update(&state, &changes),
        Err(out_of_range)
    );
    assert!(generate_registry_key(issuer.key.public(), 0, &mut random).is_err());
    assert!(generate_registry_key(issuer.key.public(), MAX_CREDENTIALS + 1, &mut random).is_err());
}

#[test]
fn a_full_registry_issues_nothing_more() {
    let mut list = RevocationList::new(4, IssuedAtStart::OnDemand).unwrap();
    for index in 1..4 {
        list = list.changed(&Changes::issue([index]).unwrap()).unwrap();
    }
    assert_eq!(list.active().count(), 3);
    for index in 1..6 {
        assert!(
            list.changed(&Changes::issue([index]).unwrap()).is_err(),
            "{index}"
        );
    }
}

#[test]
fn a_request_that_blinds_nothing_is_refused() {
    let mut random = random(7);
    let issuer = Issuer::new(2, &mut random);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::OnDemand)
        .unwrap();
    let request = IssueRequest {
        index: 1,
        context: &UBig::ONE,
        blinded: &selfsame_bignum::pairing::G1::identity(),
        accumulator: &state,
        is_active: false,
    };
    assert!(issuer.at_registry().issue(&request, &mut random).is_err());
}

#[test]
fn a_holder_refuses_a_credential_of_which_any_part_was_changed() {
    let issuer = Issuer::of_samples();
    let credential = sample!("legacy/credential");
    let blinding: RevocationBlinding =
        read(&sample!("legacy/request_metadata")["link_secret_blinding_data"]["vr_prime"]);
    let accumulator = read::<RevocationRegistry>(&credential["rev_reg"]).accum;
    let m2 = number(&credential["signature"]["p_credential"]["m_2"]);
    let good = IssuedContext {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: &accumulator,
        capacity: issuer.capacity,
        context: &m2,
    };
    let signature = &credential["signature"]["r_credential"];
    let witness: Witness = read(&credential["witness"]);
    let process = |signature: &Value, context, blinding, witness| {
        read::<NonRevocationCredentialSignature>(signature).process(context, blinding, witness)
    };
    assert!(process(signature, &good, &blinding, &witness).is_ok());

    let other_g1 = &sample!("legacy/cred_def")["value"]["revocation"]["h"];
    let other_g2 = &sample!("legacy/cred_def")["value"]["revocation"]["u"];
    let one = Value::from(format!("{:064X}", 1));
    for (path, value) in [
        ("/sigma", other_g1),
        ("/c", &one),
        ("/vr_prime_prime", &one),
        ("/witness_signature/sigma_i", other_g2),
        ("/witness_signature/u_i", other_g2),
        ("/witness_signature/g_i", other_g1),
        ("/g_i", other_g1),
        ("/i", &Value::from(0)),
        ("/i", &Value::from(9)),
        ("/m2", &one),
    ] {
        let mut changed = signature.clone();
        *changed.pointer_mut(path).unwrap() = value.clone();
        assert!(
            process(&changed, &good, &blinding, &witness).is_err(),
            "{path}"
        );
    }
    let mut both = signature.clone();
    both["g_i"] = other_g1.clone();
    both["witness_signature"]["g_i"] = other_g1.clone();
    assert!(process(&both, &good, &blinding, &witness).is_err());
}

#[test]
fn a_holder_refuses_a_credential_beside_what_it_does_not_belong_to() {
    let issuer = Issuer::of_samples();
    let credential = sample!("legacy/credential");
    let blinding: RevocationBlinding =
        read(&sample!("legacy/request_metadata")["link_secret_blinding_data"]["vr_prime"]);
    let accumulator = read::<RevocationRegistry>(&credential["rev_reg"]).accum;
    let m2 = number(&credential["signature"]["p_credential"]["m_2"]);
    let good = IssuedContext {
        key: &issuer.key,
        registry: &issuer.registry,
        accumulator: &accumulator,
        capacity: issuer.capacity,
        context: &m2,
    };
    let signature = &credential["signature"]["r_credential"];
    let witness: Witness = read(&credential["witness"]);
    let process = |signature: &Value, context, blinding, witness| {
        read::<NonRevocationCredentialSignature>(signature).process(context, blinding, witness)
    };
    let one = Value::from(format!("{:064X}", 1));
    let other_witness: Witness = read(&sample!("legacy/rev_state_updated")["witness"]);
    assert!(process(signature, &good, &blinding, &other_witness).is_err());
    let other_blinding = read(&one);
    assert!(process(signature, &good, &other_blinding, &witness).is_err());
    let other = UBig::from(7_u8);
    let context = IssuedContext {
        context: &other,
        ..good
    };
    assert!(process(signature, &context, &blinding, &witness).is_err());
    let other = read(&sample!("legacy/status_list_updated")["currentAccumulator"]);
    let context = IssuedContext {
        accumulator: &other,
        ..good
    };
    assert!(process(signature, &context, &blinding, &witness).is_err());
    let other = Issuer::new(issuer.capacity, &mut random(8));
    let context = IssuedContext {
        registry: &other.registry,
        ..good
    };
    assert!(process(signature, &context, &blinding, &witness).is_err());
    let context = IssuedContext {
        key: &other.key,
        ..good
    };
    assert!(process(signature, &context, &blinding, &witness).is_err());
}

#[test]
fn a_credential_with_the_index_of_another_finds_no_witness() {
    let mut random = random(10);
    let issuer = Issuer::new(5, &mut random);
    let state = issuer
        .at_registry()
        .initial(IssuedAtStart::ByDefault)
        .unwrap();
    let mut held = flow::issue(&issuer, 3, &state, &mut random);
    held.signature.i = 2;
    let context = held
        .signature
        .witness_context(&issuer.key, &issuer.registry, &state);
    let list = RevocationList::new(5, IssuedAtStart::ByDefault).unwrap();
    assert!(Witness::build(&context, &list, &issuer.tails()).is_err());
}

#[test]
fn secrets_are_not_printed() {
    let issuer = Issuer::of_samples();
    let signature: NonRevocationCredentialSignature =
        read(&sample!("legacy/credential")["signature"]["r_credential"]);
    let witness: Witness = read(&sample!("legacy/credential")["witness"]);
    let printed = format!(
        "{:?} {:?} {signature:?} {witness:?}",
        issuer.private, issuer.gamma
    );
    assert!(
        !printed.chars().any(|letter| letter.is_ascii_digit()),
        "{printed}"
    );
}
