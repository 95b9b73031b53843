//! Values from JSON to CBOR.

use selfsame_cbor::deterministic::{CborWriter, encode};
use selfsame_crypto::encoding::{base64_decode, base64url_decode};
use selfsame_crypto::time::seconds_of_rfc3339;
use serde_json::Value;

use super::{ElementKind, model};
use crate::error::MdocError;
use crate::held::ElementPath;

/// The tags of a time and of a day (RFC 8949 §3.4.1, RFC 8943 §2).
const TIME: u64 = 0;
const DAY: u64 = 1004;
/// The members of nested values that are days.
const DAYS: [&str; 7] = [
    "issue_date",
    "expiry_date",
    "birth_date",
    "dt",
    "nx",
    "vf",
    "vu",
];
/// The characters of a text in a driving licence (ISO/IEC 18013-5 §7.2.1).
const CHARS_MAX: usize = 150;
/// How deep a value may be nested.
const DEPTH_MAX: usize = 8;

/// The value of an element of a document of this type in CBOR. An element that is not known is written by the form that
/// its value has in JSON.
///
/// # Errors
/// `Value` if the value does not fit the element.
pub fn encode_element(
    doc_type: &str,
    path: ElementPath<'_>,
    value: &Value,
) -> Result<Vec<u8>, MdocError> {
    let known = model(doc_type).and_then(|model| model.element(path.namespace, path.element));
    let written = match known {
        Some(element) => encode_as(element.kind, value),
        None => generic(value),
    };
    written.ok_or_else(|| MdocError::Value {
        element: path.element.to_owned(),
        wanted: known.map_or("a value that CBOR has", |element| element.kind.as_str()),
    })
}

/// A value by the form that it has in JSON; `None` if it is nested too deeply.
pub fn generic(value: &Value) -> Option<Vec<u8>> {
    nested(value, None, DEPTH_MAX)
}

/// A value of this kind in CBOR; `None` if it is of another kind.
pub fn encode_as(kind: ElementKind, value: &Value) -> Option<Vec<u8>> {
    match kind {
        ElementKind::Text => {
            let text = value.as_str()?;
            (text.chars().count() <= CHARS_MAX).then(|| text_of(text))
        }
        ElementKind::LongText => value.as_str().map(text_of),
        ElementKind::Day => day(value.as_str()?),
        ElementKind::DayOrTime => day(value.as_str()?).or_else(|| time(value.as_str()?)),
        ElementKind::Bool => {
            let value = value.as_bool()?;
            Some(encode(|to| {
                to.bool(value);
            }))
        }
        ElementKind::Number => {
            let value = value.as_u64()?;
            Some(encode(|to| {
                to.uint(value);
            }))
        }
        ElementKind::Bytes => {
            let bytes = bytes(value.as_str()?)?;
            Some(encode(|to| {
                to.bytes(&bytes);
            }))
        }
        ElementKind::Country => {
            let code = value.as_str().filter(|code| is_country(code))?;
            Some(text_of(code))
        }
        ElementKind::Countries => {
            let codes = value.as_array().filter(|codes| !codes.is_empty())?;
            let mut codes_only = codes.iter();
            let all = codes_only.all(|code| code.as_str().is_some_and(is_country));
            generic(value).filter(|_| all)
        }
        ElementKind::Nested => {
            let is_nested = value.is_array() || value.is_object();
            generic(value).filter(|_| is_nested)
        }
    }
}

fn nested(value: &Value, name: Option<&str>, depth: usize) -> Option<Vec<u8>> {
    let depth = depth.checked_sub(1)?;
    Some(match value {
        Value::Null => encode(|to| {
            to.null();
        }),
        Value::Bool(value) => encode(|to| {
            to.bool(*value);
        }),
        Value::Number(number) => {
            let number = number.as_i64().map(i128::from);
            let number = number.or_else(|| value.as_u64().map(i128::from))?;
            encode(|to| {
                to.wide_int(number);
            })
        }
        Value::String(text) if name.is_some_and(|name| DAYS.contains(&name)) => {
            day(text).or_else(|| time(text))?
        }
        Value::String(text) => text_of(text),
        Value::Array(all) => {
            let all: Option<Vec<Vec<u8>>> =
                all.iter().map(|one| nested(one, name, depth)).collect();
            let all = all?;
            encode(|to| {
                to.array(all.len());
                all.iter().for_each(|one| {
                    to.raw(one);
                });
            })
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = nested(value, Some(name), depth)?;
                Some((text_of(name), value))
            });
            let members = members.collect::<Option<Vec<_>>>()?;
            encode(|to| {
                to.sorted(members);
            })
        }
    })
}

fn text_of(text: &str) -> Vec<u8> {
    encode(|to| {
        to.text(text);
    })
}

/// A day that exists.
fn day(text: &str) -> Option<Vec<u8>> {
    let is_day = text.len() == 10 && seconds_of_rfc3339(&format!("{text}T00:00:00Z")).is_some();
    is_day.then(|| tagged(DAY, text))
}

/// A time in UTC in whole seconds.
fn time(text: &str) -> Option<Vec<u8>> {
    let is_time = text.len() == 20 && text.ends_with('Z') && seconds_of_rfc3339(text).is_some();
    is_time.then(|| tagged(TIME, text))
}

fn tagged(tag: u64, text: &str) -> Vec<u8> {
    let write = |to: &mut CborWriter| {
        to.tag(tag).text(text);
    };
    encode(write)
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let encoded = match text.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,")?.1,
        None => text,
    };
    let plain = base64_decode(encoded).ok();
    plain.or_else(|| base64url_decode(encoded).ok())
}

fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase())
}
