//! Every message, tested with the samples of the published library.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{rewritten, sample};
use crate::Error;
use crate::cl::KeyCorrectnessProof;
use crate::format::*;

const REFUSED: &str = "a member is missing";

fn altered<T: Message>(name: &str, alter: impl FnOnce(&mut Value)) -> Result<T, Error> {
    let mut value = serde_json::from_str(&sample(name)).unwrap();
    alter(&mut value);
    T::from_json(value.to_string().as_bytes())
}

fn why<T: Message>(name: &str, alter: impl FnOnce(&mut Value)) -> String {
    altered::<T>(name, alter).err().expect(name).to_string()
}

#[test]
fn every_sample_of_the_published_library_is_read_and_written_again() {
    for age in ["legacy", "qualified"] {
        let of = |name: &str| format!("{age}/{name}.json");
        rewritten::<Schema>(&of("schema"));
        let definition: CredentialDefinition = rewritten(&of("cred_def"));
        let schema = Schema::from_json(sample(&of("schema")).as_bytes()).unwrap();
        definition.check_schema(&schema).unwrap();
        rewritten::<CredentialDefinitionPrivate>(&of("cred_def_private"));
        rewritten::<KeyCorrectnessProof>(&of("key_correctness_proof"));
        rewritten::<CredentialOffer>(&of("offer"));
        rewritten::<CredentialRequest>(&of("request"));
        rewritten::<CredentialRequestMetadata>(&of("request_metadata"));
        let credential: Credential = rewritten(&of("credential"));
        assert!(
            credential
                .values
                .0
                .values()
                .all(AttributeValue::is_consistent)
        );
        rewritten::<Credential>(&of("credential_processed"));
    }
    rewritten::<RevocationRegistryDefinition>("legacy/rev_reg_def.json");
    rewritten::<RevocationRegistryPrivate>("legacy/rev_reg_def_private.json");
    for list in ["", "_on_demand", "_updated", "_reinstated"] {
        rewritten::<RevocationStatusList>(&format!("legacy/status_list{list}.json"));
    }
    rewritten::<RevocationState>("legacy/rev_state.json");
    rewritten::<RevocationState>("legacy/rev_state_updated.json");
    for name in [
        "non_revoked",
        "predicates",
        "revealed",
        "two_credentials",
        "unrevealed_group_self_attested",
    ] {
        rewritten::<Presentation>(&format!("presentations/{name}.json"));
    }
}

#[test]
fn the_members_of_the_days_of_indy_are_read() {
    let id = "NcYxiDXkpYi6ov5FcYDi1e:3:CL:15:default";
    let definition = altered::<CredentialDefinition>("legacy/cred_def.json", |v| {
        v.as_object_mut().unwrap().remove("issuerId");
        v["id"] = id.into();
        v["ver"] = "1.0".into();
        v["schemaId"] = "15".into();
    })
    .unwrap();
    assert_eq!(definition.issuer_id.as_str(), "NcYxiDXkpYi6ov5FcYDi1e");
    assert!(definition.schema_id.is_sequence_number());
    altered::<RevocationRegistryDefinition>("legacy/rev_reg_def.json", |v| {
        v.as_object_mut().unwrap().remove("issuerId");
        v["id"] = format!("NcYxiDXkpYi6ov5FcYDi1e:4:{id}:CL_ACCUM:r1").into();
        v["value"]["issuanceType"] = "ISSUANCE_BY_DEFAULT".into();
    })
    .unwrap();
    altered::<CredentialRequestMetadata>("legacy/request_metadata.json", |v| {
        let members = v.as_object_mut().unwrap();
        for (new, old) in [
            ("link_secret_blinding_data", "master_secret_blinding_data"),
            ("link_secret_name", "master_secret_name"),
        ] {
            let value = members.remove(new).unwrap();
            members.insert(old.to_owned(), value);
        }
    })
    .unwrap();
    altered::<RevocationStatusList>("legacy/status_list.json", |v| {
        let members = v.as_object_mut().unwrap();
        let accumulator = members.remove("currentAccumulator").unwrap();
        members.insert("accum".into(), accumulator);
    })
    .unwrap();
}

#[test]
fn entries_of_the_ledger_are_read_and_written() {
    let list: Value = serde_json::from_str(&sample("legacy/status_list.json")).unwrap();
    // In the canonical form: reduced, with excess 1.
    let list = RevocationStatusList::from_json(list.to_string().as_bytes()).unwrap();
    let accumulator = serde_json::to_value(list.current_accumulator).unwrap();
    let accumulator = &accumulator;
    let entry = json!({ "ver": "1.0", "value": { "accum": accumulator } });
    let read = LegacyRegistry::from_json(entry.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), entry);
    let delta = json!({
        "ver": "1.0",
        "value": { "prevAccum": accumulator, "accum": accumulator, "revoked": [3, 5] },
    });
    let read = LegacyDelta::from_json(delta.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), delta);
    for (member, value) in [
        ("revoked", json!([3, 3])),
        ("revoked", json!([0])),
        ("issued", json!([3])),
        ("accum", json!("1 2 3")),
    ] {
        let mut odd = delta.clone();
        odd["value"][member] = value;
        assert!(
            LegacyDelta::from_json(odd.to_string().as_bytes()).is_err(),
            "{odd}"
        );
    }
    let mut newer = entry;
    newer["ver"] = "2.0".into();
    assert!(LegacyRegistry::from_json(newer.to_string().as_bytes()).is_err());
}

#[test]
fn messages_are_refused_with_the_reason() {
    type Definition = CredentialDefinition;
    let definition = "qualified/cred_def.json";
    assert!(why::<Definition>(definition, |v| v["type"] = "BBS".into()).contains(REFUSED));
    let number = |v: &mut Value| v["value"]["primary"]["n"] = "0x7".into();
    assert!(why::<Definition>(definition, number).contains("not a decimal number"));
    let no_base = |v: &mut Value| {
        v["value"]["primary"]["r"]
            .as_object_mut()
            .unwrap()
            .remove("master_secret");
    };
    assert!(why::<Definition>(definition, no_base).contains("no base for the link secret"));

    type Request = CredentialRequest;
    let both = |v: &mut Value| v["entropy"] = "e".into();
    assert!(why::<Request>("legacy/request.json", both).contains("both entropy"));
    let neither = |v: &mut Value| v["prover_did"] = Value::Null;
    assert!(why::<Request>("legacy/request.json", neither).contains("neither entropy"));

    let credential = "legacy/credential.json";
    let empty = |v: &mut Value| v["values"] = json!({});
    assert!(why::<Credential>(credential, empty).contains("no attributes"));
    let twice = |v: &mut Value| v["values"]["AGE"] = v["values"]["age"].clone();
    assert!(why::<Credential>(credential, twice).contains("two attributes"));
    let text = |v: &mut Value| v["values"]["age"]["encoded"] = "x".into();
    assert!(why::<Credential>(credential, text).contains("not a decimal number"));
    let long = |v: &mut Value| v["values"]["age"]["encoded"] = "9".repeat(81).into();
    assert!(why::<Credential>(credential, long).contains("80 at most"));
    let lost = |v: &mut Value| v["witness"] = Value::Null;
    assert!(why::<Credential>(credential, lost).contains("no witness"));

    let registry = "legacy/rev_reg_def.json";
    type Registry = RevocationRegistryDefinition;
    let none = |v: &mut Value| v["value"]["maxCredNum"] = 0.into();
    assert!(why::<Registry>(registry, none).contains("no places"));
    let many = |v: &mut Value| v["value"]["maxCredNum"] = 1_048_577.into();
    assert!(why::<Registry>(registry, many).contains("1048576 at most"));
    let list = "legacy/status_list.json";
    let three = |v: &mut Value| v["revocationList"][2] = 3.into();
    assert!(why::<RevocationStatusList>(list, three).contains("neither 0 nor 1"));
    let off = |v: &mut Value| v["currentAccumulator"] = "1 2 3".into();
    assert!(why::<RevocationStatusList>(list, off).contains("a point of G2"));
    let zero = |v: &mut Value| v["timestamp"] = 0.into();
    assert!(why::<RevocationState>("legacy/rev_state.json", zero).contains("zero"));
}

#[test]
fn presentations_with_parts_that_do_not_fit_are_refused() {
    let name = "presentations/two_credentials.json";
    type P = Presentation;
    let fewer = |v: &mut Value| {
        v["identifiers"].as_array_mut().unwrap().pop();
    };
    assert!(why::<P>(name, fewer).contains("not one proof for each"));
    let beyond =
        |v: &mut Value| v["requested_proof"]["predicates"]["age"]["sub_proof_index"] = 2.into();
    assert!(why::<P>(name, beyond).contains("not there"));
    let twice = |v: &mut Value| {
        v["requested_proof"]["unrevealed_attrs"]["name"] = json!({ "sub_proof_index": 0 });
    };
    assert!(why::<P>(name, twice).contains("two answers"));
    let text =
        |v: &mut Value| v["requested_proof"]["revealed_attrs"]["name"]["encoded"] = "1a".into();
    assert!(why::<P>(name, text).contains("not a decimal"));
}

#[test]
fn what_is_secret_or_personal_is_not_shown() {
    let shown = |text: String| {
        assert!(text.len() < 2_000 || !text.contains("Alice"), "{text}");
        assert!(
            !text.contains("Alice") && !text.contains("4602732"),
            "{text}"
        );
    };
    let credential: Credential = rewritten("legacy/credential.json");
    shown(format!("{:?}", credential.values));
    let presentation: Presentation = rewritten("presentations/revealed.json");
    shown(format!("{:?}", presentation.requested_proof));
    let private: CredentialDefinitionPrivate = rewritten("legacy/cred_def_private.json");
    assert_eq!(format!("{private:?}"), "CredentialDefinitionPrivate(…)");
    let metadata: CredentialRequestMetadata = rewritten("legacy/request_metadata.json");
    assert_eq!(format!("{metadata:?}"), "CredentialRequestMetadata(…)");
}

/// Runs every decoder of a message, for fuzzing and for the properties below. A message that is read can be written and
/// read again.
fn decode(data: &[u8]) {
    fn one<T: Message + PartialEq>(data: &[u8]) {
        if let Ok(message) = T::from_json(data) {
            let again = message.to_json().unwrap();
            assert!(T::from_json(again.as_json().as_bytes()).unwrap() == message);
        }
    }
    one::<Schema>(data);
    one::<CredentialDefinition>(data);
    one::<CredentialOffer>(data);
    one::<CredentialRequest>(data);
    one::<Credential>(data);
    one::<PresentationRequest>(data);
    one::<Presentation>(data);
    one::<RevocationRegistryDefinition>(data);
    one::<RevocationStatusList>(data);
    one::<RevocationState>(data);
    one::<LegacyDelta>(data);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn samples_with_bytes_changed_are_read_as_they_are_or_refused(
        which in 0..6_usize, at: prop::sample::Index, byte in any::<u8>(),
    ) {
        let names = ["schema", "offer", "request", "credential", "rev_state", "status_list"];
        let mut text = sample(&format!("legacy/{}.json", names[which])).into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        decode(&text);
    }
}
