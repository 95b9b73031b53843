//! JSON in canonical form (RFC 8785).

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

/// The canonical text of a value. A number is a double (RFC 8785 §3.2.2.3), so two integers that [`inexact`] finds can
/// have one text.
#[must_use]
pub fn value_bytes(value: &Value) -> Vec<u8> {
    let mut text = Vec::with_capacity(1024);
    write(value, &mut text);
    text
}

/// The canonical text of an object.
#[must_use]
pub fn object_bytes(members: &Map<String, Value>) -> Vec<u8> {
    let mut text = Vec::with_capacity(1024);
    write_object(members, &mut text);
    text
}

/// The canonical text of a string.
#[must_use]
pub fn string_bytes(value: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len().saturating_add(2));
    write_string(value, &mut text);
    text
}

/// A number of the value, or of what it contains, that is not exact as a double.
#[must_use]
pub fn inexact(value: &Value) -> Option<&Number> {
    match value {
        Value::Number(one) => exact(one).is_none().then_some(one),
        Value::Array(elements) => elements.iter().find_map(inexact),
        Value::Object(members) => members.values().find_map(inexact),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// The number as a double, if no other number has its text.
#[must_use]
pub fn exact(number: &Number) -> Option<f64> {
    let value = number.as_f64()?;
    let of_integer = number.as_i64().map(i128::from);
    let of_integer = of_integer.or_else(|| number.as_u64().map(i128::from));
    match of_integer {
        // Long integers that ECMAScript itself wrote are not exact, but the shortest text of their double.
        Some(integer) => {
            let is_exact = value as i128 == integer || ecmascript(value) == integer.to_string();
            is_exact.then_some(value)
        }
        None => Some(value),
    }
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Null => text.extend_from_slice(b"null"),
        Value::Bool(true) => text.extend_from_slice(b"true"),
        Value::Bool(false) => text.extend_from_slice(b"false"),
        Value::Number(one) => {
            let double = one.as_f64().unwrap_or_default();
            text.extend_from_slice(ecmascript(double).as_bytes());
        }
        Value::String(one) => write_string(one, text),
        Value::Array(elements) => {
            text.push(b'[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                write(element, text);
            }
            text.push(b']');
        }
        Value::Object(members) => write_object(members, text),
    }
}

fn write_object(members: &Map<String, Value>, text: &mut Vec<u8>) {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by(|(left, _), (right, _)| by_utf16(left, right));
    text.push(b'{');
    for (at, (name, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        write_string(name, text);
        text.push(b':');
        write(value, text);
    }
    text.push(b'}');
}

/// The order of names: by UTF-16 code units (RFC 8785 §3.2.3). It differs from that of UTF-8 only beyond U+D7FF.
fn by_utf16(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

/// Writes a string with the escapes of RFC 8785 §3.2.2.2.
pub fn write_string(one: &str, text: &mut Vec<u8>) {
    text.push(b'"');
    let mut plain = 0;
    for (at, byte) in one.bytes().enumerate() {
        let short = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            0x08 => b'b',
            0x09 => b't',
            0x0a => b'n',
            0x0c => b'f',
            0x0d => b'r',
            0x00..=0x1f => b'u',
            _ => continue,
        };
        text.extend_from_slice(one.as_bytes().get(plain..at).unwrap_or_default());
        plain = at.saturating_add(1);
        text.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            text.extend_from_slice(format!("{byte:04x}").as_bytes());
        }
    }
    text.extend_from_slice(one.as_bytes().get(plain..).unwrap_or_default());
    text.push(b'"');
}

/// A number as ECMAScript writes it (ECMA-262 §6.1.6.1.20).
fn ecmascript(value: f64) -> String {
    ryu_js::Buffer::new().format(value).to_owned()
}

#[cfg(test)]
mod tests;
