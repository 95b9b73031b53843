//! Tests the status list vectors: the lists, tokens and credentials printed in the two specifications.

use std::{collections::BTreeMap, fs, path::PathBuf};

use selfsame_credential::status::{
    Bits, List, Mechanism, Purpose, Reference, Terms, Value, Width, bitstring, token_list,
};
use selfsame_crypto::{encoding::hex_encode, jws, time::UnixTime};
use serde_json::{Map, Value as Json, json};

const NOW: UnixTime = UnixTime(1_700_000_000);
const URI: &str = "https://example.com/statuslists/1";

fn vectors(name: &str) -> Json {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors/status");
    serde_json::from_str(&fs::read_to_string(path.join(name)).unwrap()).unwrap()
}

fn header() -> Map<String, Json> {
    Map::from_iter([("alg".to_owned(), json!("ES256"))])
}

/// A list with the content that the specification prints; its signature is not verified here.
fn list(printed: &Json) -> List {
    let header = json!({"alg": "ES256", "typ": "statuslist+jwt"});
    let claims = json!({
        "sub": URI,
        "iat": NOW.0,
        "status_list": {"bits": printed["bits"], "lst": printed["lst"]},
    });
    let token = jws::Unsigned::new(&header, &claims).finish(b"signature");
    List::parse(URI, None, token.as_bytes(), NOW).unwrap()
}

fn statuses(printed: &Json) -> BTreeMap<u64, u8> {
    let statuses = printed["statuses"].as_object().unwrap();
    let status = |(index, value): (&String, &Json)| {
        let value = u8::try_from(value.as_u64().unwrap()).unwrap();
        (index.parse().unwrap(), value)
    };
    statuses.iter().map(status).collect()
}

#[test]
fn the_lists_of_the_token_status_list_draft_say_what_they_should() {
    let file = vectors("token_list.json");
    let printed = file["lists"].as_array().unwrap();
    assert_eq!(printed.len(), 6);
    for printed in printed {
        let name = &printed["name"];
        let wanted = statuses(printed);
        let list = list(printed);
        let entries = printed["entries"].as_u64().unwrap();
        assert_eq!(list.len(), entries, "{name}");
        for index in 0..entries {
            let value = wanted.get(&index).copied().unwrap_or(0);
            assert_eq!(list.get(index), Ok(Value::from(value)), "{name}: {index}");
        }
    }
}

#[test]
fn our_bits_are_the_drafts_bits() {
    let file = vectors("token_list.json");
    for printed in file["lists"].as_array().unwrap() {
        let width = Width::from_bits(printed["bits"].as_u64().unwrap()).unwrap();
        let mut bits = Bits::new(width, printed["entries"].as_u64().unwrap()).unwrap();
        for (index, value) in statuses(printed) {
            bits.set(index, value).unwrap();
        }
        if let Some(hex) = printed["hex"].as_str() {
            assert_eq!(hex_encode(bits.as_bytes()), hex);
        }
        let header = header();
        let terms = Terms {
            uri: URI,
            issuer: "https://example.com",
            header: &header,
            issued_at: NOW,
            expires_at: None,
            ttl: None,
        };
        let ours = token_list::encode(&bits, &terms)
            .unwrap()
            .finish(b"signature");
        let ours = List::parse(URI, None, ours.as_bytes(), NOW).unwrap();
        let theirs = list(printed);
        for index in 0..bits.len() {
            assert_eq!(ours.get(index), theirs.get(index), "{}", printed["name"]);
        }
    }
}

#[test]
fn the_token_of_the_draft_is_read() {
    let file = vectors("token_list.json");
    let printed = &file["token"];
    let (uri, body) = (
        printed["uri"].as_str().unwrap(),
        printed["body"].as_str().unwrap(),
    );
    let list = List::parse(uri, Some(token_list::MEDIA_TYPE), body.as_bytes(), NOW).unwrap();
    assert_eq!(json!(list.issued_at().unwrap().0), printed["issued_at"]);
    assert_eq!(json!(list.expires_at().unwrap().0), printed["expires_at"]);
    assert_eq!(json!(list.ttl()), printed["ttl"]);
    assert_eq!(json!(list.issuer()), printed["issuer"]);
    let list_number = usize::try_from(printed["list"].as_u64().unwrap()).unwrap();
    for (index, value) in statuses(&file["lists"][list_number]) {
        let reference = Reference::token(uri, index);
        assert_eq!(list.status(&reference), Ok(Value::from(value)));
    }
}

#[test]
fn the_credentials_of_the_bitstring_recommendation_lead_to_their_lists() {
    for example in vectors("bitstring.json")["credentials"].as_array().unwrap() {
        let found = Reference::in_credential(&example["credential"]).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|reference| {
                let Mechanism::Bitstring { purpose, size } = reference.mechanism else {
                    panic!("not a bitstring: {reference:?}");
                };
                assert_eq!(size, Width::One);
                json!({"uri": reference.uri, "index": reference.index, "purpose": purpose.as_str()})
            })
            .collect();
        assert_eq!(json!(found), example["references"]);
    }
}

#[test]
fn the_list_of_the_bitstring_recommendation_is_read() {
    let file = vectors("bitstring.json");
    let printed = &file["list"];
    let header = json!({"alg": "ES256", "typ": "vc+jwt"});
    let token = jws::Unsigned::new(&header, &printed["credential"]).finish(b"signature");
    let uri = printed["uri"].as_str().unwrap();
    let list = List::parse(uri, Some(bitstring::MEDIA_TYPE), token.as_bytes(), NOW).unwrap();
    assert_eq!(json!(list.len()), printed["entries"]);
    assert_eq!(json!(list.issuer()), printed["issuer"]);
    for index in [0, 94_567, list.len() - 1] {
        let reference = Reference::bitstring(uri, index, Purpose::Revocation);
        assert_eq!(list.status(&reference), Ok(Value::Valid));
    }
}
