//! Values of elements as JSON (RFC 8949 §6.1), to compare them with those of a query and to show them.

use selfsame_cbor::{Cbor, CborKind};
use selfsame_crypto::encoding::{base64_encode, base64url_encode, hex_encode};
use serde_json::{Map, Number, Value};

/// Tags that say how a byte string is written in JSON (RFC 8949 §3.4.5.2).
const BASE64: u64 = 22;
const BASE16: u64 = 23;

/// The value as JSON: byte strings in base64url, tags left out, and what JSON does not have as null.
pub fn to_json(item: &Cbor<'_>) -> Value {
    match item.kind() {
        CborKind::Int(number) => int(*number),
        CborKind::Bytes(bytes) => Value::from(base64url_encode(bytes)),
        CborKind::Text(text) => Value::from(*text),
        CborKind::Array(items) => items.iter().map(to_json).collect(),
        CborKind::Map(pairs) => {
            let members = pairs
                .iter()
                .map(|pair| (name(&pair.key), to_json(&pair.value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        CborKind::Tag(tag, content) => match (*tag, content.bytes()) {
            (BASE64, Some(bytes)) => Value::from(base64_encode(bytes)),
            (BASE16, Some(bytes)) => Value::from(hex_encode(bytes)),
            _ => to_json(content),
        },
        CborKind::Bool(value) => Value::from(*value),
        CborKind::Null | CborKind::Undefined | CborKind::Simple(_) => Value::Null,
        CborKind::Float(bits) => {
            Number::from_f64(f64::from_bits(*bits)).map_or(Value::Null, Value::Number)
        }
    }
}

fn int(number: i128) -> Value {
    let signed = i64::try_from(number).map(Value::from);
    let unsigned = || u64::try_from(number).map(Value::from);
    // Below -2^63 JSON has the number only as a text here.
    signed
        .or_else(|_| unsigned())
        .unwrap_or_else(|_| Value::from(number.to_string()))
}

/// The name of a member: its key as text.
fn name(key: &Cbor<'_>) -> String {
    match to_json(key) {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use selfsame_cbor::CborLimits;
    use selfsame_cbor::deterministic::encode;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_converted_as_rfc_8949_advises() {
        let bytes = encode(|to| {
            to.map(8);
            to.int(1).text("one");
            to.text("bytes").bytes(&[0xff, 0xfe]);
            to.text("date").tag(1004).text("2020-01-02");
            to.text("hex").tag(23).bytes(&[0xab]);
            to.text("list").array(3).bool(true).null().int(-7);
            to.text("half").raw(&[0xf9, 0x3e, 0x00]);
            to.text("nan").raw(&[0xf9, 0x7e, 0x00]);
            to.text("base64").tag(22).bytes(&[0xff, 0xfe]);
        });
        let item = Cbor::parse(&bytes, &CborLimits::default()).unwrap();
        let wanted = json!({
            "1": "one",
            "bytes": "__4",
            "date": "2020-01-02",
            "hex": "ab",
            "list": [true, null, -7],
            "half": 1.5,
            "nan": null,
            "base64": "//4=",
        });
        assert_eq!(to_json(&item), wanted);
    }
}
