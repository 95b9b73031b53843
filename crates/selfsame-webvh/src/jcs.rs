//! JSON Canonicalization Scheme (RFC 8785): the one text of a JSON value.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// The largest integer that a double holds exactly in any case, 2^53.
const EXACT: u64 = 1 << 53;

/// The canonical text of a value.
pub(crate) fn canonical(value: &Value) -> Vec<u8> {
    let mut text = Vec::with_capacity(1024);
    write(value, &mut text);
    text
}

/// The canonical text of a string.
pub(crate) fn canonical_text(value: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(value.len().saturating_add(2));
    string(value, &mut text);
    text
}

fn write(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Null => text.extend_from_slice(b"null"),
        Value::Bool(true) => text.extend_from_slice(b"true"),
        Value::Bool(false) => text.extend_from_slice(b"false"),
        Value::Number(value) => text.extend_from_slice(number(value).as_bytes()),
        Value::String(value) => string(value, text),
        Value::Array(all) => {
            text.push(b'[');
            for (index, one) in all.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                write(one, text);
            }
            text.push(b']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| order(one, other));
            text.push(b'{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                string(name, text);
                text.push(b':');
                write(value, text);
            }
            text.push(b'}');
        }
    }
}

/// RFC 8785 §3.2.3: by UTF-16 code units, which is the order of the bytes unless a name is beyond ASCII.
fn order(one: &str, other: &str) -> Ordering {
    if one.is_ascii() && other.is_ascii() {
        one.cmp(other)
    } else {
        one.encode_utf16().cmp(other.encode_utf16())
    }
}

/// RFC 8785 §3.2.2.2: only what must be escaped is.
fn string(value: &str, text: &mut Vec<u8>) {
    text.push(b'"');
    for byte in value.bytes() {
        match byte {
            b'"' => text.extend_from_slice(b"\\\""),
            b'\\' => text.extend_from_slice(b"\\\\"),
            0x08 => text.extend_from_slice(b"\\b"),
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            0x0c => text.extend_from_slice(b"\\f"),
            b'\r' => text.extend_from_slice(b"\\r"),
            0..=0x1f => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => text.push(byte),
        }
    }
    text.push(b'"');
}

/// RFC 8785 §3.2.2.3: a number is a double, written as ECMAScript does.
fn number(value: &Number) -> String {
    let is_exact = value.as_u64().is_some_and(|number| number <= EXACT)
        || value
            .as_i64()
            .is_some_and(|number| number.unsigned_abs() <= EXACT);
    match (is_exact, value.as_f64()) {
        (false, Some(number)) => double(number),
        _ => value.to_string(),
    }
}

/// ECMAScript's `Number::toString`. serde_json finds the same digits: the shortest, the even ones of two that are as near.
fn double(number: f64) -> String {
    let found = Number::from_f64(number.abs()).map_or_else(String::new, |found| found.to_string());
    let (mantissa, exponent) = found.split_once('e').unwrap_or((&found, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let zeros = all.len().saturating_sub(digits.len());
    let point = i32::try_from(whole.len()).unwrap_or_default();
    let point = point.saturating_sub(i32::try_from(zeros).unwrap_or_default());
    let point = point.saturating_add(exponent.parse().unwrap_or_default());
    let digits = digits.trim_end_matches('0');
    match (digits, number < 0.0) {
        ("", _) => "0".to_owned(),
        (digits, true) => format!("-{}", placed(digits, point)),
        (digits, false) => placed(digits, point),
    }
}

/// The digits with the decimal point after `point` of them.
fn placed(digits: &str, point: i32) -> String {
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |number: i32| "0".repeat(usize::try_from(number).unwrap_or_default());
    match point {
        _ if count <= point && point <= 21 => {
            format!("{digits}{}", zeros(point.saturating_sub(count)))
        }
        1..=21 => {
            let at = usize::try_from(point).unwrap_or_default();
            let (whole, rest) = digits.split_at_checked(at).unwrap_or((digits, ""));
            format!("{whole}.{rest}")
        }
        -5..=0 => format!("0.{}{digits}", zeros(point.saturating_neg())),
        _ => {
            let exponent = point.saturating_sub(1);
            let sign = if exponent < 0 { '-' } else { '+' };
            let exponent = exponent.unsigned_abs();
            match digits.split_at_checked(1) {
                Some((first, rest)) if !rest.is_empty() => {
                    format!("{first}.{rest}e{sign}{exponent}")
                }
                _ => format!("{digits}e{sign}{exponent}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let value: Value = serde_json::from_str(text).unwrap();
        String::from_utf8(canonical(&value)).unwrap()
    }

    #[test]
    fn the_example_of_rfc_8785_has_its_canonical_text() {
        let text = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        assert_eq!(
            of(text),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }

    #[test]
    fn names_are_in_the_order_of_their_utf_16_code_units() {
        let text = "{\"\u{20ac}\":1,\"\\r\":2,\"\u{fb33}\":3,\"1\":4,\"\u{1f600}\":5,\"\u{80}\":6,\"\u{f6}\":7}";
        assert_eq!(
            of(text),
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}"
        );
    }

    #[test]
    fn numbers_are_written_as_ecmascript_writes_them() {
        for (text, expected) in [
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("9007199254740992", "9007199254740992"),
            ("9007199254740993", "9007199254740992"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e21", "1e+21"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-1.5e-9", "-1.5e-9"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("295147905179352830000", "295147905179352830000"),
            ("999999999999999900000", "999999999999999900000"),
            ("1424953923781206.2", "1424953923781206.2"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
