//! Services of a DID document (DID Core §5.4).

use serde_json::{Map, Value};

use super::DocumentError;
use super::members::{TakenMembers, strings, take};
use crate::did::Did;

/// A service through which a DID's subject can be reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// The identifier, an absolute URI.
    pub id: String,
    /// The types.
    pub type_: Vec<String>,
    /// The endpoint: a string, an object, or an array of these.
    pub endpoint: Value,
    /// Members that DID Core does not define.
    pub other: Map<String, Value>,
}

impl Service {
    pub(crate) fn read(value: Value, base: &Did) -> Result<Self, DocumentError> {
        let malformed = || DocumentError::Malformed("service");
        let Value::Object(mut members) = value else {
            return Err(malformed());
        };
        let id = members
            .text("id")
            .filter(|id| !id.is_empty())
            .ok_or_else(malformed)?;
        let id = if id.starts_with(['#', '/', '?']) {
            format!("{base}{id}")
        } else {
            id
        };
        let type_ = strings(take(&mut members, "type"))
            .filter(|types| !types.is_empty())
            .ok_or_else(malformed)?;
        let endpoint = take(&mut members, "serviceEndpoint").ok_or_else(malformed)?;
        let sound = match &endpoint {
            Value::String(_) | Value::Object(_) => true,
            Value::Array(all) => all.iter().all(|one| one.is_string() || one.is_object()),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        if sound {
            Ok(Self {
                id,
                type_,
                endpoint,
                other: members,
            })
        } else {
            Err(malformed())
        }
    }

    pub(super) fn write(&self) -> Value {
        let mut members = Map::new();
        members.insert("id".to_owned(), Value::String(self.id.clone()));
        let type_ = match self.type_.as_slice() {
            [one] => Value::String(one.clone()),
            all => Value::from(all.to_vec()),
        };
        members.insert("type".to_owned(), type_);
        members.insert("serviceEndpoint".to_owned(), self.endpoint.clone());
        members.extend(self.other.clone());
        Value::Object(members)
    }
}
