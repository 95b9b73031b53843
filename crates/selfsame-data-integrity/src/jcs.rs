//! JSON in canonical form (RFC 8785), for what is signed.

use selfsame_crypto::json::canonical::{self, inexact};
use serde_json::{Map, Number, Value};

use crate::IntegrityError;

/// The canonical text of a value.
///
/// # Errors
/// [`IntegrityError::DataLoss`] if an integer is not exact as a double (RFC 8785 §3.2.2.3): two values would have one
/// text.
pub fn to_bytes(value: &Value) -> Result<Vec<u8>, IntegrityError> {
    match inexact(value) {
        Some(number) => Err(lost(number)),
        None => Ok(canonical::value_bytes(value)),
    }
}

/// The canonical text of an object.
pub(crate) fn object_bytes(members: &Map<String, Value>) -> Result<Vec<u8>, IntegrityError> {
    match members.values().find_map(inexact) {
        Some(number) => Err(lost(number)),
        None => Ok(canonical::object_bytes(members)),
    }
}

fn lost(number: &Number) -> IntegrityError {
    IntegrityError::DataLoss(number.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_that_a_double_cannot_hold_is_refused() {
        let lost = IntegrityError::DataLoss("9007199254740993".to_owned());
        let value = json!([9_007_199_254_740_993_u64]);
        assert_eq!(to_bytes(&value).unwrap_err(), lost);
        let members = Map::from_iter([("a".to_owned(), value)]);
        assert_eq!(object_bytes(&members).unwrap_err(), lost);
    }
}
