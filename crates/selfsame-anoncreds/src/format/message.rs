//! Common parts of all messages: strict reading within limits, validation, writing.

use selfsame_crypto::SecretString;
use selfsame_crypto::json::{self, JsonError, Limits};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use zeroize::Zeroize;

use super::written::written;
use crate::Error;

/// A message with the JSON of the published implementations.
pub trait Message: Serialize + DeserializeOwned {
    /// The type of its JSON: [`SecretString`] for a secret message, whose text is wiped after it is read, too.
    type Text: Text;
    /// The message's name in errors.
    const WHAT: &'static str;
    /// The limits for reading its JSON.
    const LIMITS: Limits = SMALL;

    /// Checks the rules of the data model that the types of its members do not express.
    fn validate(&self) -> Result<(), Error>;

    /// Parses the message strictly: no repeated member, nothing beyond the limits, then validation. Unknown members are
    /// ignored, as everywhere.
    fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        let mut value = json::parse(bytes, &Self::LIMITS).map_err(Self::refused)?;
        let message = Self::deserialize(&value);
        if Self::Text::SECRET {
            wipe(&mut value);
        }
        let message = message.map_err(|error| Error::Malformed {
            what: Self::WHAT,
            why: reason(&error.to_string()),
        })?;
        message.validate()?;
        Ok(message)
    }

    /// Writes the message as the current published implementation does, with maps in the order of their keys. A message
    /// beyond the limits of its reader is not written.
    fn to_json(&self) -> Result<Self::Text, Error> {
        let unwritten = || Error::Malformed {
            what: Self::WHAT,
            why: "it cannot be written as JSON",
        };
        let written = written(self, &Self::LIMITS).map_err(Self::refused)?;
        let text = String::from_utf8(written.ok_or_else(unwritten)?).map_err(|_| unwritten())?;
        Ok(text.into())
    }

    /// The error for JSON that could not be parsed.
    #[doc(hidden)]
    fn refused(error: JsonError) -> Error {
        let why = match error {
            JsonError::TooLong => {
                return Error::TooLarge {
                    what: Self::WHAT,
                    limit: Self::LIMITS.max_bytes,
                };
            }
            JsonError::TooMany => {
                return Error::TooLarge {
                    what: Self::WHAT,
                    limit: Self::LIMITS.max_members,
                };
            }
            JsonError::TooDeep => "the JSON is nested too deeply",
            JsonError::Duplicate => "an object names a member twice",
            JsonError::Syntax { .. } => "it is not JSON",
            JsonError::Shape(_) => SHAPE,
        };
        Error::Malformed {
            what: Self::WHAT,
            why,
        }
    }
}

/// The JSON of a message.
pub trait Text: From<String> {
    /// Whether the text is wiped when it is dropped.
    const SECRET: bool;

    /// The JSON itself.
    fn as_json(&self) -> &str;
}

impl Text for String {
    const SECRET: bool = false;

    fn as_json(&self) -> &str {
        self
    }
}

impl Text for SecretString {
    const SECRET: bool = true;

    fn as_json(&self) -> &str {
        self.expose()
    }
}

/// For messages of a few kilobytes.
pub(crate) const SMALL: Limits = Limits {
    max_bytes: 512 * 1024,
    max_depth: 16,
    max_members: 20_000,
};

/// For messages that carry attribute values, or commitments as arrays of bytes.
pub(crate) const LARGE: Limits = Limits {
    max_bytes: 4 * 1024 * 1024,
    max_depth: 16,
    max_members: 400_000,
};

const SHAPE: &str = "a member is missing, unknown in its kind or of the wrong type";

/// The reason why parsing refused a member. `serde` returns it as text, so it is recognised by that text.
pub(crate) mod why {
    pub const IDENTIFIER: &str = "an identifier is neither a URI nor of the legacy form";
    pub const NONCE: &str = "a nonce is not a decimal number of at most 128 digits";
    pub const QUERY: &str = "a restriction is not a query";
    pub const QUERY_SIZE: &str = "a restriction is nested too deeply or has too many clauses";
    pub const VERSION: &str = "the version is neither 1.0 nor 2.0";
    pub const ISSUER: &str = "it names no issuer";

    /// The reasons here, and those of the mathematical types.
    pub(super) const ALL: [&str; 24] = [
        IDENTIFIER,
        NONCE,
        QUERY,
        QUERY_SIZE,
        VERSION,
        ISSUER,
        "not a decimal number in its shortest form",
        "the name of an attribute is too long",
        "too many attributes",
        "a name is repeated",
        "the link secret has two bases",
        "the link secret has two responses",
        "a number of a predicate is missing",
        "a predicate has a number too many",
        "an index is repeated",
        "the revocation list is too long",
        "a status is neither 0 nor 1",
        "the revocation list is empty",
        "the responses are no base64url of their length",
        "the proof of two safe primes is too long",
        "a point of G1 is malformed",
        "a point of G2 is malformed",
        "an element of GT is malformed",
        "an integer modulo the group order is malformed",
    ];
}

/// The reason for a non-revocation proof that has its own response for m₂.
const INDY_ERA: (&str, &str) = (
    "unknown field `m2`, expected one of `rho`",
    "its proof of non-revocation is of the Indy era, and not bound to the rest of the credential",
);

fn reason(text: &str) -> &'static str {
    if text.starts_with(INDY_ERA.0) {
        return INDY_ERA.1;
    }
    let known = why::ALL.into_iter().find(|known| text.starts_with(known));
    known.unwrap_or(SHAPE)
}

fn wipe(value: &mut Value) {
    match value {
        Value::String(text) => text.zeroize(),
        Value::Array(items) => items.iter_mut().for_each(wipe),
        Value::Object(members) => members.values_mut().for_each(wipe),
        _ => {}
    }
}
