//! Small forms of deterministic CBOR that several records share.

use selfsame_crypto::{KeyType, PublicKey};
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

/// Writes an optional item: an array of it, or an empty array.
pub(crate) fn write_optional<T: CborItem>(to: &mut CborWriter, item: Option<&T>) {
    to.array(usize::from(item.is_some()));
    if let Some(item) = item {
        to.item(item);
    }
}

/// Reads what [`write_optional`] writes.
pub(crate) fn optional<T: CborItem>(from: &mut CborReader<'_>) -> Result<Option<T>, Malformed> {
    match from.array()? {
        0 => Ok(None),
        1 => T::read(from).map(Some),
        _ => Err(Malformed("what may be absent stands there at most once")),
    }
}

/// An optional item as a record of its own. Records are never removed from the state, so absence is written too.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: CborItem> CborItem for Maybe<T> {
    fn write(&self, to: &mut CborWriter) {
        write_optional(to, self.0.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        optional(from).map(Self)
    }
}

/// A public key of a kind that the rules know. A new kind would be a new rule, and come with a height.
pub(crate) fn public_key(from: &mut CborReader<'_>) -> Result<PublicKey, Malformed> {
    let none = Malformed("a public key is malformed or of an unsupported kind");
    let key = PublicKey::from_multicodec(from.bytes()?).map_err(|_| none)?;
    match key.key_type() {
        KeyType::MlDsa44 | KeyType::MlDsa65 => Err(none),
        _ => Ok(key),
    }
}
