//! Where a value has the wrong form, and which form is required. The value itself is never shown.

use std::fmt::{self, Display, Formatter};

use serde::de::{self, Expected, Unexpected};

/// Longer member names and longer lists of names are not shown.
const MAX_NAME: usize = 40;
const MAX_NAMES: usize = 16;

/// Which part of a value has the wrong form, and where. Values may be secret and are never shown. A member's name is
/// shown if it is short and printable.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Misfit {
    /// The path to the value, innermost part first.
    path: Vec<String>,
    what: What,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum What {
    /// A predicate: what form the value must have.
    Value(String),
    /// A sentence: which member of the value is missing or not allowed.
    Member(String),
}

impl Misfit {
    fn new(what: What) -> Self {
        let path = Vec::new();
        Self { path, what }
    }

    fn value(what: impl Into<String>) -> Self {
        Self::new(What::Value(what.into()))
    }

    fn member(what: impl Into<String>) -> Self {
        Self::new(What::Member(what.into()))
    }

    /// Adds to the path that the value is this member of an object.
    pub(super) fn in_member(mut self, name: &str) -> Self {
        let name = if is_shown(name) { name } else { "…" };
        self.path.push(format!(".{name}"));
        self
    }

    /// Adds to the path that the value is this element of an array.
    pub(super) fn in_element(mut self, index: usize) -> Self {
        self.path.push(format!("[{index}]"));
        self
    }
}

impl Display for Misfit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let path: String = self.path.iter().rev().map(String::as_str).collect();
        let path = path.strip_prefix('.').unwrap_or(&path);
        match (path, &self.what) {
            ("", What::Value(what)) => write!(f, "it {what}"),
            (path, What::Value(what)) => write!(f, "`{path}` {what}"),
            ("", What::Member(what)) => f.write_str(what),
            (path, What::Member(what)) => write!(f, "in `{path}`, {what}"),
        }
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    /// Custom messages are dropped, as they may contain the value.
    fn custom<T: Display>(_: T) -> Self {
        Self::value("has a value it cannot have")
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::value(format!("must be {}", wanted(expected)))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self::value("has too few or too many elements")
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::value(match names(expected) {
            Some(names) => format!("must be one of {names}"),
            None => "must be another name".to_owned(),
        })
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let unknown = if is_shown(field) {
            format!("the member `{field}` is unknown")
        } else {
            "a member is unknown".to_owned()
        };
        Self::member(match names(expected) {
            Some(names) => format!("{unknown}; known are {names}"),
            None => unknown,
        })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::member(format!("the member `{field}` is missing"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::member(format!("the member `{field}` is there twice"))
    }
}

/// Whether a name sent by another party may be shown in an error message.
fn is_shown(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_graphic() && c != '`';
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(fits)
}

fn names(expected: &[&str]) -> Option<String> {
    let quoted: Vec<String> = expected.iter().map(|name| format!("`{name}`")).collect();
    (1..=MAX_NAMES)
        .contains(&quoted.len())
        .then(|| quoted.join(", "))
}

/// What serde expects, without Rust type names.
fn wanted(expected: &dyn Expected) -> String {
    let text = expected.to_string();
    let of_kind = |kind: &str| text == kind || text.starts_with(&format!("{kind} "));
    let plain = match text.as_str() {
        "u8" => return whole(u8::MAX.into()),
        "u16" => return whole(u16::MAX.into()),
        "u32" => return whole(u32::MAX.into()),
        "u64" | "usize" | "u128" => "a whole number, not below 0",
        "i8" | "i16" | "i32" | "i64" | "isize" | "i128" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        _ if of_kind("struct") || of_kind("a map") => "an object",
        _ if of_kind("a sequence") || of_kind("tuple") || of_kind("a tuple") => "an array",
        _ if of_kind("enum") || of_kind("variant") => "the name of a variant, or an object with it",
        _ if of_kind("unit") => "null",
        other => other,
    };
    plain.to_owned()
}

fn whole(max: u64) -> String {
    format!("a whole number from 0 to {max}")
}
