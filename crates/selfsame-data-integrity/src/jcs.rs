//! JSON in canonical form (RFC 8785), for what is signed.

use selfsame_crypto::json::canonical::{self, inexact};
use serde_json::{Map, Value};

use crate::IntegrityError;

/// The name of a value that is in no member (JSON-LD 1.1 §4.2.2).
const ROOT: &str = "@value";

/// The canonical text of a value.
///
/// # Errors
/// [`IntegrityError::DataLoss`] with the name of a member whose integer is not exact as a double (RFC 8785 §3.2.2.3): two
/// values would have one text.
pub fn to_bytes(value: &Value) -> Result<Vec<u8>, IntegrityError> {
    match lossy(ROOT, value) {
        Some(name) => Err(lost(name)),
        None => Ok(canonical::value_bytes(value)),
    }
}

/// The canonical text of an object.
pub(crate) fn object_bytes(members: &Map<String, Value>) -> Result<Vec<u8>, IntegrityError> {
    match lossy_member(members) {
        Some(name) => Err(lost(name)),
        None => Ok(canonical::object_bytes(members)),
    }
}

/// The name of the member whose number is not exact. `name` is that of the value itself.
fn lossy<'v>(name: &'v str, value: &'v Value) -> Option<&'v str> {
    match value {
        Value::Object(members) => lossy_member(members),
        Value::Array(elements) => elements.iter().find_map(|one| lossy(name, one)),
        one => inexact(one).map(|_| name),
    }
}

fn lossy_member(members: &Map<String, Value>) -> Option<&str> {
    members.iter().find_map(|(name, one)| lossy(name, one))
}

fn lost(name: &str) -> IntegrityError {
    IntegrityError::DataLoss(name.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_that_a_double_cannot_hold_is_refused_by_the_name_of_its_member() {
        let value = json!([{"deep": [9_007_199_254_740_993_u64]}]);
        assert_eq!(to_bytes(&value).unwrap_err(), lost("deep"));
        let members = Map::from_iter([("a".to_owned(), value)]);
        assert_eq!(object_bytes(&members).unwrap_err(), lost("deep"));
        let bare = json!([9_007_199_254_740_993_u64]);
        assert_eq!(to_bytes(&bare).unwrap_err(), lost(ROOT));
        let members = Map::from_iter([("a".to_owned(), bare)]);
        assert_eq!(object_bytes(&members).unwrap_err(), lost("a"));
    }
}
