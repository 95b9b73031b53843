//! How a secret text is written into a sealed record.

use selfsame_crypto::SecretString;
use serde::Serializer;

/// Writes the text itself: the record is sealed before it leaves memory.
pub(crate) fn exposed<S: Serializer>(text: &SecretString, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text.expose())
}
