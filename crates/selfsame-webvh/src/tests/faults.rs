//! Each way in which a log can be wrong is found, with the entry that has it.

use serde_json::{Value, json};

use super::kit::{Logbook, did_key, first, hash, key, multikey, now, proof, set};
use crate::EntryFault;
use crate::fault::SizeFault;
use crate::log::MAX_LOG;

/// Three entries, and the fault of the last one after this change of its hashed content.
#[track_caller]
fn last(parameters: &Value, change: impl Fn(&mut Value), code: &'static str) {
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add(&json!({}), &key);
    assert_eq!(book.refused(), None);
    book.add_changed(parameters, &key, change);
    assert_eq!(book.refused(), Some((code, 3)), "{parameters}");
    assert_eq!(book.read().log().versions().len(), 2);
}

/// The fault of a first entry with these parameters.
#[track_caller]
fn at_first(change: impl Fn(&mut Value), code: Option<&'static str>) {
    let key = key();
    let mut parameters = first(&key);
    change(&mut parameters);
    let book = Logbook::new(&parameters, &key);
    assert_eq!(book.refused(), code.map(|code| (code, 1)), "{parameters}");
}

#[test]
fn a_log_of_several_entries_is_valid() {
    let (one, other) = (key(), key());
    let mut book = Logbook::new(&first(&one), &one);
    book.add(&json!({"updateKeys": [multikey(&other)], "ttl": 60}), &one);
    book.add(&json!({"watchers": ["https://watcher.example"]}), &other);
    assert_eq!(book.refused(), None);
    let reading = book.read();
    let active = reading.log().active().unwrap();
    assert_eq!((active.ttl, active.watchers.len()), (60, 1));
    assert_eq!(
        reading.log().text(),
        book.text().strip_suffix(b"\n").unwrap()
    );
}

#[test]
fn a_log_is_measured_before_it_is_parsed() {
    let key = key();
    let book = Logbook::new(&first(&key), &key);
    let long = vec![b'{'; 100 * 1024 * 1024];
    let reading = book.empty().read(&long, now());
    assert_eq!(
        reading.fault().map(|error| (error.entry, error.fault)),
        Some((0, EntryFault::Size(SizeFault::Log)))
    );
    assert!(MAX_LOG < long.len());
    let empty = book.empty().read(b"", now());
    assert_eq!(empty.fault().unwrap().fault.code(), "log-empty");
    let line = "x".repeat(64 * 1024 + 1);
    let reading = book.empty().read(line.as_bytes(), now());
    assert_eq!(reading.fault().unwrap().fault.code(), "entry-too-long");
    let mut blank = book.text();
    blank.push(b'\n');
    let reading = book.empty().read(&blank, now());
    assert_eq!(reading.fault().unwrap().fault.code(), "entry-malformed");
}

#[test]
fn an_entry_has_its_members_and_no_other() {
    let none = json!({});
    last(&none, set("extra", json!(1)), "entry-malformed");
    last(&none, set("versionTime", json!(1)), "entry-malformed");
    last(&none, set("parameters", json!([])), "entry-malformed");
    last(&none, set("state", json!([])), "subject-malformed");
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    let line = book.lines[0].replacen('{', "{\"versionId\":\"1-x\",", 1);
    book.lines[0] = line;
    assert_eq!(book.refused(), Some(("entry-malformed", 1)));
}

#[test]
fn versions_are_numbered_without_gaps() {
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add(&json!({}), &key);
    book.add(&json!({}), &key);
    let mut gap = book.clone();
    gap.lines.remove(1);
    assert_eq!(gap.refused(), Some(("version-number-not-next", 2)));
    book.lines.swap(1, 2);
    assert_eq!(book.refused(), Some(("version-number-not-next", 2)));
    for wrong in ["2", "2-", "2--x", "02-Qm", "x-Qm"] {
        let mut book = gap.clone();
        book.change_last(set("versionId", json!(wrong)));
        assert_eq!(book.refused(), Some(("version-id-malformed", 2)), "{wrong}");
    }
}

#[test]
fn the_hashes_are_those_of_the_entries() {
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add(&json!({}), &key);
    let mut changed = book.clone();
    changed.change_last(|entry| entry["state"]["service"] = json!([]));
    assert_eq!(changed.refused(), Some(("entry-hash-mismatch", 2)));
    // A hash of its own and a proof, but of a history that is not this one.
    let mut parameters = first(&key);
    parameters["ttl"] = json!(1);
    let mut other = Logbook::new(&parameters, &key);
    other.add_changed(&json!({}), &key, |entry| entry["state"] = book.state());
    book.lines[1] = other.lines[1].clone();
    assert_eq!(book.refused(), Some(("entry-hash-mismatch", 2)));
    let mut book = Logbook::new(&first(&key), &key);
    book.change_last(|entry| entry["parameters"]["ttl"] = json!(1));
    assert_eq!(book.refused(), Some(("scid-mismatch", 1)));
}

#[test]
fn times_rise_and_are_not_ahead() {
    let at = |time: &str| set("versionTime", json!(time));
    let none = json!({});
    last(&none, at("2026-01-01T00:01:00Z"), "version-time-not-later");
    last(&none, at("2026-01-01T00:00:59Z"), "version-time-not-later");
    last(&none, at("2026-01-01T00:15:01Z"), "version-time-in-future");
    last(&none, at("2026-01-01T00:02:00"), "version-time-malformed");
    last(
        &none,
        at("2026-01-01T01:02:00+01:00"),
        "version-time-malformed",
    );
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add_changed(&none, &key, at("2026-01-01T00:00:00.001Z"));
    book.add_changed(&none, &key, at("2026-01-01T00:15:00+00:00"));
    assert_eq!(book.refused(), None);
}

#[test]
fn parameters_are_known_typed_and_where_they_may_be() {
    for (name, value) in [
        ("other", json!(1)),
        ("method", json!("did:webvh:99.0")),
        ("method", json!("did:webvh:0.5")),
        ("method", Value::Null),
        (
            "scid",
            json!("QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE"),
        ),
        ("portable", json!(true)),
        ("portable", json!("false")),
        ("deactivated", json!(1)),
        ("ttl", json!(-1)),
        ("ttl", json!(2_147_483_649_u64)),
        ("ttl", json!(1.5)),
        ("ttl", json!("60")),
        ("updateKeys", json!("z")),
        ("updateKeys", json!([1])),
        ("nextKeyHashes", json!({})),
        ("watchers", json!(["no url"])),
    ] {
        last(&json!({ name: value }), |_| {}, "parameter-refused");
    }
    for name in ["method", "scid", "updateKeys"] {
        let without = |parameters: &mut Value| {
            parameters.as_object_mut().unwrap().remove(name);
        };
        at_first(without, Some("parameter-refused"));
    }
    at_first(
        set("method", json!("did:webvh:1.0-rc1")),
        Some("parameter-refused"),
    );
    at_first(set("portable", json!(true)), None);
    let nulls = json!({
        "watchers": null, "witness": null, "updateKeys": null, "nextKeyHashes": null, "ttl": null,
    });
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add(&nulls, &key);
    assert_eq!(book.refused(), None);
    assert!(book.read().log().active().unwrap().update_keys.is_empty());
}

#[test]
fn a_set_of_witnesses_is_complete_and_each_is_another() {
    let (one, two) = (did_key(&key()), did_key(&key()));
    let of = |threshold: Value, ids: &[&str]| {
        let ids: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
        json!({"witness": {"threshold": threshold, "witnesses": ids}})
    };
    let p256 = selfsame_crypto::PrivateKey::generate(selfsame_crypto::KeyType::P256).unwrap();
    for wrong in [
        of(json!(0), &[&one]),
        of(json!(2), &[&one]),
        of(json!(1.5), &[&one, &two]),
        of(json!("1"), &[&one]),
        of(json!(1), &[]),
        of(json!(1), &[&one, &one]),
        of(json!(1), &["did:web:example.com"]),
        of(json!(1), &[&did_key(&p256)]),
        json!({"witness": {"witnesses": [{"id": one}]}}),
        json!({"witness": {"threshold": 1}}),
        json!({"witness": {"threshold": 1, "witnesses": [{"id": one, "weight": 1}]}}),
        json!({"witness": []}),
    ] {
        last(&wrong, |_| {}, "parameter-refused");
    }
}

#[test]
fn an_entry_is_signed_by_a_key_of_the_entry_before() {
    let (one, other) = (key(), key());
    let mut book = Logbook::new(&first(&one), &one);
    // Its own keys act for the next entry alone.
    book.add(&json!({"updateKeys": [multikey(&other)]}), &other);
    assert_eq!(book.refused(), Some(("proof-key-unauthorised", 2)));
    book.lines.pop();
    book.last = book.version_id(1);
    book.add(&json!({"updateKeys": [multikey(&other)]}), &one);
    book.add(&json!({}), &one);
    assert_eq!(book.refused(), Some(("proof-key-unauthorised", 3)));
    let stranger = Logbook::new(&first(&one), &other);
    assert_eq!(stranger.refused(), Some(("proof-key-unauthorised", 1)));
}

#[test]
fn a_proof_is_of_the_one_suite_purpose_and_form() {
    let (one, other) = (key(), key());
    let body = multikey(&one);
    let elsewhere = format!("did:key:{body}#{}", multikey(&other));
    for (name, value, code) in [
        (
            "cryptosuite",
            json!("ecdsa-jcs-2019"),
            "proof-suite-unsupported",
        ),
        (
            "cryptosuite",
            json!("eddsa-rdfc-2022"),
            "proof-suite-unsupported",
        ),
        ("cryptosuite", Value::Null, "proof-suite-unsupported"),
        ("type", json!("Ed25519Signature2020"), "proof-malformed"),
        (
            "proofPurpose",
            json!("authentication"),
            "proof-purpose-wrong",
        ),
        (
            "verificationMethod",
            json!(elsewhere),
            "proof-key-malformed",
        ),
        (
            "verificationMethod",
            json!(format!("did:key:{body}")),
            "proof-key-malformed",
        ),
        ("verificationMethod", json!(body), "proof-key-malformed"),
        ("created", json!("yesterday"), "proof-malformed"),
        ("expires", json!("2026-01-01T00:10:00Z"), "proof-expired"),
        (
            "@context",
            json!("https://www.w3.org/ns/did/v1"),
            "proof-malformed",
        ),
    ] {
        let mut book = Logbook::new(&first(&one), &one);
        book.prove_last(&one, set(name, value));
        assert_eq!(book.refused(), Some((code, 1)), "{name}");
    }
    let mut book = Logbook::new(&first(&one), &one);
    book.prove_last(&one, set("expires", json!("2026-01-01T00:10:01Z")));
    assert_eq!(book.refused(), None);
    book.change_last(|entry| entry["proof"] = entry["proof"][0].clone());
    assert_eq!(book.refused(), None);
    for (proofs, code) in [
        (json!([]), "proof-missing"),
        (Value::Null, "proof-missing"),
        (json!(["x"]), "proof-malformed"),
    ] {
        book.change_last(set("proof", proofs));
        assert_eq!(book.refused(), Some((code, 1)));
    }
}

#[test]
fn each_of_several_proofs_must_verify() {
    let (one, two) = (key(), key());
    let parameters = json!({
        "method": "did:webvh:1.0", "scid": "{SCID}", "updateKeys": [multikey(&one), multikey(&two)],
    });
    let mut book = Logbook::new(&parameters, &one);
    let mut entry = book.entry(1);
    let good = entry["proof"][0].clone();
    entry.as_object_mut().unwrap().remove("proof");
    let second = proof(&entry, &two, |_| {});
    book.change_last(set("proof", json!([good, second])));
    assert_eq!(book.refused(), None);
    let other = proof(&json!({"versionId": "1"}), &two, |_| {});
    book.change_last(set("proof", json!([good, other])));
    assert_eq!(book.refused(), Some(("proof-signature-invalid", 1)));
}

#[test]
fn pre_rotation_binds_every_key_of_the_next_entry() {
    let (one, two, three) = (key(), key(), key());
    let mut parameters = first(&one);
    parameters["nextKeyHashes"] = json!([hash(&two)]);
    let book = Logbook::new(&parameters, &one);
    let with = |parameters: Value, key: &selfsame_crypto::PrivateKey| {
        let mut book = book.clone();
        book.add(&parameters, key);
        book
    };
    let kept = json!({"updateKeys": [multikey(&two)], "nextKeyHashes": [hash(&three)]});
    assert_eq!(with(kept.clone(), &two).refused(), None);
    for (parameters, key, code) in [
        (json!({}), &one, "pre-rotation-skipped"),
        (
            json!({"updateKeys": [multikey(&two)]}),
            &two,
            "pre-rotation-skipped",
        ),
        (json!({"nextKeyHashes": []}), &one, "pre-rotation-skipped"),
        (
            json!({"updateKeys": [multikey(&one)], "nextKeyHashes": []}),
            &one,
            "update-key-uncommitted",
        ),
        (
            json!({"updateKeys": [multikey(&two), multikey(&one)], "nextKeyHashes": []}),
            &two,
            "update-key-uncommitted",
        ),
        // With pre-rotation, an entry's own keys sign it.
        (kept.clone(), &one, "proof-key-unauthorised"),
        (
            json!({"updateKeys": [], "nextKeyHashes": []}),
            &two,
            "proof-key-unauthorised",
        ),
    ] {
        assert_eq!(with(parameters, key).refused(), Some((code, 2)));
    }
    // Turning it off still binds that entry; the one after follows the other rule.
    let mut off = with(
        json!({"updateKeys": [multikey(&two)], "nextKeyHashes": []}),
        &two,
    );
    off.add(&json!({"updateKeys": [multikey(&one)]}), &two);
    off.add(&json!({}), &one);
    assert_eq!(off.refused(), None);
}

#[test]
fn the_document_is_of_the_did() {
    let id = |id: &'static str| move |entry: &mut Value| entry["state"]["id"] = json!(id);
    let none = json!({});
    last(&none, id("did:web:example.com"), "subject-malformed");
    last(&none, id("did:webvh:x:example.com"), "subject-malformed");
    last(
        &none,
        id("did:webvh:QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE:example.com"),
        "subject-scid-mismatch",
    );
    let elsewhere = |entry: &mut Value| {
        let moved = entry["state"]["id"]
            .as_str()
            .unwrap()
            .replace("example.com", "new.example");
        entry["state"]["id"] = moved.into();
    };
    last(&none, elsewhere, "subject-not-portable");
    let key = key();
    let mut asked = Logbook::new(&first(&key), &key);
    asked.did = asked.did.replace("example.com", "new.example");
    assert_eq!(asked.refused(), Some(("subject-not-asked-for", 0)));
    asked.did = "did:webvh:QmdmPkUdYzbr9txmx8gM2rsHPgr5L6m3gHjJGAf4vUFoGE:example.com".to_owned();
    assert_eq!(asked.refused(), Some(("scid-mismatch", 1)));
}

#[test]
fn a_portable_did_moves_and_names_the_one_before() {
    let key = key();
    let mut parameters = first(&key);
    parameters["portable"] = json!(true);
    let book = Logbook::new(&parameters, &key);
    let old = book.did.clone();
    let new = old.replace("example.com", "new.example");
    let moved = |names: Value, parameters: Value| {
        let mut book = book.clone();
        book.add_changed(&parameters, &key, |entry| {
            entry["state"]["id"] = new.clone().into();
            entry["state"]["alsoKnownAs"] = names.clone();
        });
        book
    };
    let named = moved(json!([old]), json!({}));
    assert_eq!(named.refused(), None);
    let mut at_new = named.clone();
    at_new.did.clone_from(&new);
    assert_eq!(at_new.refused(), None);
    assert_eq!(
        moved(json!([]), json!({})).refused(),
        Some(("subject-not-named", 2))
    );
    assert_eq!(
        moved(json!([old]), json!({"portable": false})).refused(),
        Some(("subject-not-portable", 2))
    );
}

#[test]
fn nothing_follows_a_deactivation() {
    let key = key();
    let mut book = Logbook::new(&first(&key), &key);
    book.add(&json!({"deactivated": true}), &key);
    assert_eq!(book.refused(), None);
    book.add(&json!({}), &key);
    assert_eq!(book.refused(), Some(("entry-after-deactivation", 3)));
}
