//! Reading and writing messages: samples, messages from Indy's time, refusals.

mod encoding;
mod identifiers;
mod messages;
mod requests;
mod restrictions;

use serde_json::Value;

use super::*;

/// A sample as the published library wrote it.
pub(crate) fn sample(name: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/anoncreds/");
    std::fs::read_to_string(format!("{root}{name}")).unwrap()
}

/// Reads a sample and writes it again. The JSON must be equal except for the order of maps and the form of points,
/// which in the published library depends on how it computed them.
pub(crate) fn rewritten<T: Message + PartialEq + std::fmt::Debug>(name: &str) -> T {
    let text = sample(name);
    let message = T::from_json(text.as_bytes()).unwrap();
    let again = message.to_json().unwrap();
    assert_eq!(
        T::from_json(again.as_json().as_bytes()).unwrap(),
        message,
        "{name}"
    );
    let [mut before, mut after] =
        [text.as_str(), again.as_json()].map(|t| serde_json::from_str(t).unwrap());
    blank_points(&mut before);
    blank_points(&mut after);
    assert_eq!(after, before, "{name}");
    message
}

/// Replaces points, which are written as pairs of an excess and a hexadecimal number.
fn blank_points(value: &mut Value) {
    match value {
        Value::String(text) => {
            let words: Vec<_> = text.split(' ').collect();
            let hexadecimal = |w: &str| w.bytes().all(|b| b.is_ascii_hexdigit());
            if words.len() >= 6 && words.iter().copied().all(hexadecimal) {
                *text = format!("a point of {} numbers", words.len());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(blank_points),
        Value::Object(members) => members.values_mut().for_each(blank_points),
        _ => {}
    }
}

#[test]
fn schemas_are_read_and_written_as_the_published_library_writes_them() {
    let legacy: Schema = rewritten("legacy/schema.json");
    assert!(legacy.attributes().contains("idnumber"));
    rewritten::<Schema>("qualified/schema.json");
}

#[test]
fn a_schema_of_the_days_of_indy_has_its_issuer_in_its_identifier() {
    let text = r#"{"ver":"1.0","id":"NcYxiDXkpYi6ov5FcYDi1e:2:degree:1.0","name":"degree","version":"1.0",
        "attrNames":["name"],"seqNo":15}"#;
    let schema = Schema::from_json(text.as_bytes()).unwrap();
    assert_eq!(schema.issuer_id.as_str(), "NcYxiDXkpYi6ov5FcYDi1e");
}

#[test]
fn schemas_are_refused_with_the_reason() {
    let why = |names: &str| {
        let text = format!(
            r#"{{"name":"n","version":"1","attrNames":{names},"issuerId":"did:example:i"}}"#
        );
        Schema::from_json(text.as_bytes()).unwrap_err().to_string()
    };
    assert!(why("[]").contains("there are no attributes"));
    assert!(why(r#"["Name","na me"]"#).contains("two attributes have one name"));
    assert!(why(r#"["Master_Secret"]"#).contains("link secret"));
    assert!(why(r#"[" "]"#).contains("no name"));
    assert!(why(r#"[1]"#).contains("wrong type"));
    let many = (0..126).map(|i| format!("\"{i}\"")).collect::<Vec<_>>();
    assert!(why(&format!("[{}]", many.join(","))).contains("125 at most"));
    let twice = r#"{"name":"n","name":"m","version":"1","attrNames":["a"],"issuerId":"did:e:i"}"#;
    let error = Schema::from_json(twice.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("names a member twice"));
    let unissued = r#"{"name":"n","version":"1","attrNames":["a"]}"#;
    let error = Schema::from_json(unissued.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("names no issuer"));
    let odd = r#"{"name":"n","version":"1","attrNames":["a"],"issuerId":"acme"}"#;
    let error = Schema::from_json(odd.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("neither a URI"), "{error}");
}

#[test]
fn nonces_are_digits_numbers_or_bytes_and_keep_their_spelling() {
    let read = |text: &str| serde_json::from_str::<Nonce>(text).ok();
    assert_eq!(read("\"007\"").unwrap().as_str(), "007");
    assert_eq!(read("7").unwrap().as_str(), "7");
    assert_eq!(read("[1,0]").unwrap().as_str(), "256");
    for refused in [
        "\"\"", "\"-1\"", "\"+1\"", "\"1a\"", "-1", "1.5", "[300]", "null",
    ] {
        assert!(read(refused).is_none(), "{refused}");
    }
    assert!(read(&format!("\"{}\"", "9".repeat(limits::MAX_NONCE + 1))).is_none());
}

#[test]
fn intervals_narrow_to_what_they_share_and_can_be_overridden() {
    let interval = |from, to| Interval { from, to };
    let both = interval(Some(5), None).narrowed(interval(Some(3), Some(9)));
    assert_eq!(both, interval(Some(5), Some(9)));
    assert!(both.contains(5) && both.contains(9) && !both.contains(4) && !both.contains(10));
    assert!(interval(None, None).contains(0));
    let registry = RevocationRegistryId::new("did:example:registry").unwrap();
    let overrides = Overrides::from([(registry.clone(), [(5, 2)].into())]);
    assert!(both.with_override(&registry, &overrides).contains(2));
    let other = RevocationRegistryId::new("did:example:other").unwrap();
    assert!(!both.with_override(&other, &overrides).contains(2));
}
