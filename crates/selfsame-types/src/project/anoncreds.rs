//! The attributes of an AnonCreds schema (AnonCreds specification, "Schema Publisher: Publish Schema Object").

use std::collections::BTreeSet;

use selfsame_credential::path::Segment;
use selfsame_driver::{Error, Result};

use super::located;
use crate::model::{ClaimKind, TypeDefinition};

/// Maximum number of attributes of a schema.
const ATTRIBUTES_MAX: usize = 125;

/// The names of the attributes: one for each claim that is neither an object nor a list, its names joined by dots.
///
/// # Errors
/// `BadRequest` for a list, for two names that AnonCreds takes for one, and for too many attributes.
pub fn attributes(definition: &TypeDefinition) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut seen = BTreeSet::new();
    for one in located(&definition.claims) {
        let parts = one.path.iter().filter_map(|segment| match segment {
            Segment::Name(name) => Some(name.as_str()),
            Segment::Index(_) | Segment::All => None,
        });
        let name = parts.collect::<Vec<_>>().join(".");
        match one.claim.kind {
            ClaimKind::Object => continue,
            ClaimKind::List => {
                return Err(Error::bad_request("anoncreds-list").with("claim", &name));
            }
            _ => {}
        }
        // Attribute names are compared without spaces and without regard to case.
        if !seen.insert(name.to_lowercase()) {
            return Err(Error::bad_request("anoncreds-name").with("claim", &name));
        }
        names.push(name);
    }
    if names.len() > ATTRIBUTES_MAX {
        return Err(Error::bad_request("anoncreds-attributes").with("maximum", &ATTRIBUTES_MAX));
    }
    Ok(names)
}
