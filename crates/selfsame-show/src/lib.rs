//! Owns: what people see of a credential, an offer, a request, a status list, an invitation or a DID document that is in a
//! file or a link, and what is wrong with it by itself.
//! Does not own: the formats, verification, which needs more than the file; files, the terminal.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod bytes;
mod certificate;
mod did_document;
mod header;
mod invitation;
mod json;
mod link;
mod mask;
mod mdoc;
mod offer;
mod parameters;
mod request;
mod status;
#[cfg(test)]
mod tests;
mod text;
mod token;

pub use link::is_link;

use selfsame_crypto::time::UnixTime;
use serde::Serialize;
use serde_json::Value;

/// The greatest length of a file that is shown, in bytes.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Of longer texts within a content, so many characters are shown to people.
const TEXT_SHOWN: usize = 160;

/// What a file contains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownFile {
    /// The format, as protocols name it, or another short name.
    pub format: &'static str,
    /// The format, for people.
    pub title: &'static str,
    /// What it says.
    pub content: Value,
    /// The structure in CBOR diagnostic notation, if it is CBOR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notation: Option<String>,
    /// What is wrong with it, as far as the file alone tells.
    pub problems: Vec<ShownProblem>,
}

/// Something that is wrong.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ShownProblem {
    /// What is wrong.
    pub what: String,
    /// The paragraph of the specification that says so.
    pub paragraph: &'static str,
}

impl ShownProblem {
    pub(crate) fn new(what: impl Into<String>, paragraph: &'static str) -> Self {
        let what = what.into();
        Self { what, paragraph }
    }
}

/// The file contains nothing that is known here.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotShown {
    /// The file is longer than [`MAX_BYTES`].
    #[error("the file is longer than 4 MiB")]
    TooLong,
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// It begins like a format, and is not well formed.
    #[error("it looks like {title}, but can't be read: {reason}")]
    Malformed {
        /// The format, for people.
        title: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// It is neither a token, nor a document, nor a link, nor CBOR in any encoding.
    #[error(
        "it is no credential, no other token, document or link, and no CBOR that is known here"
    )]
    Unknown,
}

/// What these bytes of a file contain, or this link, and what is wrong with it at this time.
///
/// # Errors
/// `NotShown` with the reason.
pub fn explain(file: &[u8], now: UnixTime) -> Result<ShownFile, NotShown> {
    if file.len() > MAX_BYTES {
        return Err(NotShown::TooLong);
    }
    let text = std::str::from_utf8(file).map(str::trim);
    match text {
        Ok("") => Err(NotShown::Empty),
        Ok(text) if text.starts_with('{') => json::explain(text, now),
        Ok(text) if is_link(text) => link::explain(text, now),
        // CBOR may be text by chance; a credential in CBOR never is, since it begins with a map or an array.
        Ok(text) if text.is_ascii() => text::explain(text, now),
        _ => bytes::show(file),
    }
}

impl ShownFile {
    /// A text, such as a token or a document.
    pub(crate) fn of(format: &'static str, title: &'static str, content: Value) -> Self {
        Self {
            format,
            title,
            content,
            notation: None,
            problems: Vec::new(),
        }
    }

    /// The same, with what is wrong with it.
    pub(crate) fn with(self, problems: Vec<ShownProblem>) -> Self {
        Self { problems, ..self }
    }

    /// The lines for people: long texts are cut, and no character can steer a terminal.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{} ({})", self.title, self.format)];
        if self.notation.is_none() || self.content != Value::Null {
            let text = serde_json::to_string_pretty(&cut(&self.content)).unwrap_or_default();
            lines.extend(plain(&text).lines().map(str::to_owned));
        }
        if let (Some(notation), Value::Null) = (&self.notation, &self.content) {
            lines.extend(notation.lines().map(str::to_owned));
        }
        for ShownProblem { what, paragraph } in &self.problems {
            lines.push(format!("wrong: {} ({paragraph})", plain(what)));
        }
        lines
    }
}

fn cut(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > TEXT_SHOWN => {
            let begin: String = text.chars().take(TEXT_SHOWN).collect();
            Value::from(format!("{begin}… ({} bytes)", text.len()))
        }
        Value::Array(all) => all.iter().map(cut).collect(),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), cut(value)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// JSON whose further characters are letters; others are escaped, which within JSON changes nothing.
fn plain(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for one in json.chars() {
        let mut units = [0; 2];
        match one {
            '\n' | ' '..='~' | '…' => out.push(one),
            _ if one.is_alphanumeric() => out.push(one),
            _ => {
                let units = one.encode_utf16(&mut units).iter();
                out.extend(units.map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    out
}
