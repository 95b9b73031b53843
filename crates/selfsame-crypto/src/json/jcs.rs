//! The JSON Canonicalization Scheme (RFC 8785).

use serde_json::{Number, Value};

/// Every integer up to this one is exactly representable as a double (RFC 8785 §3.2.2.3, RFC 7493 §2.2).
const EXACT: u64 = 1 << 53;

/// The canonical bytes of a value: members sorted by their UTF-16 code units, no spaces, numbers as ECMAScript writes
/// doubles.
pub fn jcs(value: &Value) -> Vec<u8> {
    let mut out = String::new();
    write_value(&mut out, value);
    out.into_bytes()
}

fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, element);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write_value(out, member);
            }
            out.push('}');
        }
    }
}

/// RFC 8785 §3.2.2.2.
fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn write_number(out: &mut String, number: &Number) {
    let exact = match (number.as_u64(), number.as_i64()) {
        (Some(positive), _) => positive <= EXACT,
        (None, Some(negative)) => negative.unsigned_abs() <= EXACT,
        (None, None) => false,
    };
    if exact {
        out.push_str(&number.to_string());
    } else {
        // `as_f64` succeeds for every number that serde_json makes.
        out.push_str(&ecmascript(number.as_f64().unwrap_or(0.0)));
    }
}

/// Number::toString of ECMAScript for a finite double (ECMA-262 §6.1.6.1.20).
fn ecmascript(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    // serde_json writes the shortest digits that read back as the same double and, between two equally close ones, the
    // even one, as ECMAScript requires. Rust's own formatting does not keep the latter rule.
    let text = Number::from_f64(value.abs()).map_or_else(String::new, |number| number.to_string());
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let leading = i32::try_from(all.len().saturating_sub(digits.len())).unwrap_or(i32::MAX);
    let digits = digits.trim_end_matches('0');
    // The decimal point follows `point` digits.
    let point = i32::try_from(whole.len())
        .unwrap_or(i32::MAX)
        .saturating_sub(leading);
    let point = point.saturating_add(exponent.parse::<i32>().unwrap_or(0));
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    format!("{sign}{}", place(digits, point, count))
}

fn place(digits: &str, point: i32, count: i32) -> String {
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    if (1..=21).contains(&point) {
        if count <= point {
            return format!("{digits}{}", zeros(point.saturating_sub(count)));
        }
        let (whole, fraction) = digits
            .split_at_checked(usize::try_from(point).unwrap_or(0))
            .unwrap_or((digits, ""));
        return format!("{whole}.{fraction}");
    }
    if (-5..=0).contains(&point) {
        return format!("0.{}{digits}", zeros(point.saturating_neg()));
    }
    let exponent = point.saturating_sub(1);
    let sign = if exponent < 0 { '-' } else { '+' };
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let fraction = if rest.is_empty() {
        String::new()
    } else {
        format!(".{rest}")
    };
    format!("{first}{fraction}e{sign}{}", exponent.unsigned_abs())
}
