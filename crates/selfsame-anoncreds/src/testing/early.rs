//! Evidently wrong values are refused, with the right error, before any expensive computation.

use dashu_int::UBig;
use selfsame_bignum::products;
use serde_json::{Value, json};

use super::*;
use crate::format::limits::{MAX_CREDENTIALS, MAX_REFERENTS};
use crate::holder::{Expected, process_credential};
use crate::issuer::{Issuance, Place};

/// The most products that a refusal may take, since numbers are converted to Montgomery form and checked together. One
/// power takes ten times as many.
const FEW: u64 = 120;

/// The reason for the refusal, which must come after few products.
fn refusal<T>(what: &str, work: impl FnOnce() -> Result<T, Error>) -> String {
    let before = products();
    let refused = work().err().unwrap_or_else(|| panic!("{what} is taken"));
    let spent = products() - before;
    assert!(spent <= FEW, "{what}: {spent} products: {refused}");
    let why = refused.to_string();
    assert!(!why.contains("a member is missing"), "{what}: {why}");
    why
}

/// A factor of the sample key's modulus.
fn factor(age: &str) -> String {
    let private: Value =
        serde_json::from_str(&text(&format!("{age}/cred_def_private.json"))).unwrap();
    let half = private["value"]["p_key"]["p"].as_str().unwrap();
    let half: UBig = half.parse().unwrap();
    (half * 2_u8 + 1_u8).to_string()
}

fn power_of_two(bits: usize) -> String {
    (UBig::ONE << bits).to_string()
}

fn json_of(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

fn read<T: Message>(value: &Value) -> Result<T, Error> {
    T::from_json(value.to_string().as_bytes())
}

/// The message with the value at the pointer replaced.
fn with(message: &Value, pointer: &str, to: impl Into<Value>) -> Value {
    let mut message = message.clone();
    let place = message.pointer_mut(pointer);
    *place.unwrap_or_else(|| panic!("{pointer} is there")) = to.into();
    message
}

/// Numbers that cannot be elements modulo n: zero, negative, too large, not coprime, far too long.
fn no_elements(age: &str) -> Vec<String> {
    let n = json_of(&format!("{age}/cred_def.json"))["value"]["primary"]["n"].clone();
    let n = n.as_str().unwrap().to_owned();
    let far = power_of_two(40_000);
    vec!["0".to_owned(), "-5".to_owned(), n, factor(age), far]
}

#[test]
fn a_key_with_a_number_that_cannot_be_is_refused_early() {
    let definition = json_of("qualified/cred_def.json");
    let prepare = |value: &Value| PreparedDefinition::new(read(value)?);
    for base in ["s", "z", "rctxt", "r/city"] {
        let place = format!("/value/primary/{base}");
        for number in no_elements("qualified").into_iter().chain(["1".to_owned()]) {
            refusal(&place, || prepare(&with(&definition, &place, number)));
        }
    }
    let n = "/value/primary/n";
    for (number, why) in [
        (power_of_two(2_050), "even"),
        ("0".to_owned(), "too short"),
        ("-7".to_owned(), "decimal"),
        (((UBig::ONE << 2_045) + 1_u8).to_string(), "too short"),
        (((UBig::ONE << 2_052) + 1_u8).to_string(), "too large"),
    ] {
        let found = refusal(n, || prepare(&with(&definition, n, number)));
        assert!(found.contains(why), "{found}");
    }
    let same = definition["value"]["primary"]["s"].clone();
    let found = refusal("equal bases", || {
        prepare(&with(&definition, "/value/primary/z", same))
    });
    assert!(found.contains("equal"), "{found}");
}

#[test]
fn a_proof_of_a_key_with_a_number_too_long_or_a_part_too_few_is_refused_early() {
    let world = World::qualified();
    let proof = json_of("qualified/key_correctness_proof.json");
    let check = |value: &Value| world.definition().key().check_correctness(&read(value)?);
    for place in ["/c", "/xz_cap", "/xr_cap/0/1"] {
        refusal(place, || check(&with(&proof, place, power_of_two(5_000))));
        refusal(place, || check(&with(&proof, place, "-1")));
    }
    let mut less = proof.clone();
    let responses = less["xr_cap"].as_array_mut().unwrap();
    responses.retain(|response| response[0] != "city");
    refusal("a response is missing", || check(&less));
    let mut unbound = proof.clone();
    let responses = unbound["xr_cap"].as_array_mut().unwrap();
    responses.retain(|response| response[0] != "master_secret");
    let found = refusal("no response for the link secret", || check(&unbound));
    assert!(found.contains("leaves out the link secret"), "{found}");
    let mut twice = proof.clone();
    let again = twice["xr_cap"][0].clone();
    twice["xr_cap"].as_array_mut().unwrap().push(again);
    refusal("a response is repeated", || check(&twice));
}

#[test]
fn a_request_with_a_number_that_cannot_be_is_refused_early() {
    let world = World::legacy();
    let (offer, request) = (sample("legacy/offer.json"), json_of("legacy/request.json"));
    let values = [
        ("name", "A"),
        ("age", "28"),
        ("degree", "M"),
        ("height", "1"),
        ("id number", "4"),
    ];
    let values = CredentialValues::of(values);
    let issue = |value: &Value, index: Option<u32>| {
        let place = index.map(|index| Place {
            registry: world.registry(),
            list: &world.lists[0],
            index,
        });
        let issuance = Issuance {
            offer: &offer,
            request: &read(value)?,
            values: &values,
            place,
        };
        world.issuer.create_credential(&issuance, &ctx(1))
    };
    for number in no_elements("legacy") {
        refusal("U", || {
            issue(&with(&request, "/blinded_ms/u", number), None)
        });
    }
    for place in ["c", "v_dash_cap", "m_caps/master_secret"] {
        let place = format!("/blinded_ms_correctness_proof/{place}");
        refusal(&place, || {
            issue(&with(&request, &place, power_of_two(3_000)), None)
        });
    }
    let place = "/blinded_ms_correctness_proof/m_caps";
    refusal("no response", || {
        issue(&with(&request, place, json!({})), None)
    });
    let found = refusal("a place that is not there", || issue(&request, Some(9)));
    assert!(found.contains("index"), "{found}");
}

#[test]
fn a_credential_with_a_number_that_cannot_be_is_refused_early() {
    let world = World::qualified();
    let metadata = sample("qualified/request_metadata.json");
    let secret = link_secret();
    let credential = json_of("qualified/credential.json");
    let process = |value: &Value| {
        let expected = Expected {
            metadata: &metadata,
            link_secret: &secret,
            definition: world.definition(),
            registry: None,
            encoding: Encoding::Recommended,
        };
        process_credential(&read(value)?, &expected)
    };
    assert!(process(&credential).is_ok());
    for number in no_elements("qualified") {
        let place = "/signature/p_credential/a";
        refusal("A", || process(&with(&credential, place, number)));
    }
    for (place, bits) in [
        ("/signature/p_credential/m_2", 256),
        ("/signature/p_credential/e", 595),
        ("/signature/p_credential/e", 600),
        ("/signature/p_credential/v", 2_722),
        ("/signature/p_credential/v", 2_724),
        ("/signature_correctness_proof/se", 2_051),
        ("/signature_correctness_proof/c", 256),
    ] {
        refusal(place, || {
            process(&with(&credential, place, power_of_two(bits)))
        });
    }
}

/// The reason why a presentation is refused, while it is parsed or by the verifier, after few products.
fn refused(worlds: &[World], (name, what): (&str, &str), value: &Value) -> String {
    let asked: PresentationRequest = sample(&format!("presentations/{name}.request.json"));
    refusal(what, || {
        let presentation = read(value)?;
        let verdict = verdict(&presentation, &asked, &known(worlds));
        let reason = verdict.verdict.reason().map(|rule| rule.detail.clone());
        reason.map_or(Ok(()), |why| {
            Err(Error::Unsatisfied {
                referent: why,
                why: "it does not hold",
            })
        })
    })
}

#[test]
fn a_presentation_with_a_number_that_cannot_be_is_refused_early() {
    let worlds = worlds();
    let name = "predicates";
    let given = json_of("presentations/predicates.json");
    let of = |part: &str| format!("/proof/proofs/0/primary_proof/{part}");
    for place in ["eq_proof/a_prime", "ge_proofs/0/t/0", "ge_proofs/3/t/DELTA"].map(of) {
        for number in no_elements("legacy") {
            refused(&worlds, (name, &place), &with(&given, &place, number));
        }
    }
    let long = [
        "eq_proof/e",
        "eq_proof/v",
        "eq_proof/m/name",
        "eq_proof/m2",
        "ge_proofs/0/u/1",
        "ge_proofs/1/r/2",
        "ge_proofs/2/r/DELTA",
        "ge_proofs/3/mj",
        "ge_proofs/0/alpha",
    ];
    for place in long.map(of) {
        for number in [power_of_two(3_200), "-1".to_owned(), power_of_two(40_000)] {
            refused(&worlds, (name, &place), &with(&given, &place, number));
        }
    }
    let place = "/proof/aggregated_proof/c_hash";
    refused(
        &worlds,
        (name, place),
        &with(&given, place, power_of_two(256)),
    );
}

#[test]
fn a_presentation_with_parts_missing_too_many_or_repeated_is_refused_early() {
    let worlds = worlds();
    let given = json_of("presentations/predicates.json");
    let parts = [
        "/proof/proofs",
        "/identifiers",
        "/proof/aggregated_proof/c_list",
        "/proof/proofs/0/primary_proof/ge_proofs",
    ];
    for place in parts {
        for change in ["one is missing", "one comes twice", "all are missing"] {
            let mut list = given.pointer(place).unwrap().as_array().unwrap().clone();
            match change {
                "one is missing" => drop(list.pop()),
                "one comes twice" => list.push(list[0].clone()),
                _ => list.clear(),
            }
            let value = with(&given, place, list);
            refused(
                &worlds,
                ("predicates", &format!("{place}: {change}")),
                &value,
            );
        }
    }
    let hidden = "/proof/proofs/0/primary_proof/eq_proof/m";
    for name in ["name", "master_secret"] {
        let mut less = given.pointer(hidden).unwrap().clone();
        less.as_object_mut().unwrap().remove(name);
        refused(&worlds, ("predicates", name), &with(&given, hidden, less));
    }
    let mut more = given.pointer(hidden).unwrap().clone();
    more["else"] = json!("1");
    refused(
        &worlds,
        ("predicates", "a response too many"),
        &with(&given, hidden, more),
    );
}

#[test]
fn a_proof_of_non_revocation_does_not_make_the_verifier_compute_for_a_bad_primary_proof() {
    let worlds = worlds();
    let given = json_of("presentations/non_revoked.json");
    let place = "/proof/proofs/0/primary_proof/eq_proof/a_prime";
    let before = selfsame_bignum::pairing::counts();
    for number in ["0".to_owned(), factor("legacy")] {
        refused(&worlds, ("non_revoked", "A'"), &with(&given, place, number));
    }
    assert_eq!(selfsame_bignum::pairing::counts(), before);
}

#[test]
fn a_presentation_of_enormous_size_is_refused_early() {
    let worlds = worlds();
    let given = json_of("presentations/predicates.json");
    let many = |place: &str, number: usize| {
        let one = given.pointer(place).unwrap()[0].clone();
        let mut value = with(&given, place, vec![one; number]);
        if place == "/proof/proofs" {
            let one = value["identifiers"][0].clone();
            value["identifiers"] = vec![one; number].into();
        }
        let what = format!("{number} times {place}");
        refused(&worlds, ("predicates", &what), &value)
    };
    let credentials = many("/proof/proofs", MAX_CREDENTIALS + 1);
    assert!(credentials.contains("too large"), "{credentials}");
    many("/proof/proofs", MAX_CREDENTIALS);
    many("/proof/proofs/0/primary_proof/ge_proofs", 100);
    many("/proof/aggregated_proof/c_list", 1_000);
    let whole = many("/proof/aggregated_proof/c_list", 10_000);
    assert!(whole.contains("too large"), "{whole}");
    let mut answers = given.clone();
    for number in 0..=MAX_REFERENTS {
        answers["requested_proof"]["self_attested_attrs"][format!("{number}")] = json!("x");
    }
    refused(&worlds, ("predicates", "answers to nothing"), &answers);
    let text = "x".repeat(5 * 1_024 * 1_024);
    let long = with(
        &given,
        "/requested_proof/self_attested_attrs",
        json!({ "a": text }),
    );
    let long = refused(&worlds, ("predicates", "five megabytes"), &long);
    assert!(long.contains("too large"), "{long}");
}
