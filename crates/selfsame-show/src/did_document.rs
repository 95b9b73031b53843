//! DID documents (DID Core 1.0).

use std::collections::BTreeSet;

use selfsame_did::{Document, DocumentError, KeyReference, Relationship};
use serde_json::Value;

use crate::mask::mask;
use crate::{ShownFile, ShownProblem};

/// A DID document.
pub fn explain(document: Value) -> ShownFile {
    let problems = match Document::from_value(document.clone()) {
        Ok(document) => references(&document),
        Err(error) => vec![ShownProblem::new(error.to_string(), paragraph(&error))],
    };
    ShownFile::of("did-document", "DID document", mask(document)).with(problems)
}

fn paragraph(error: &DocumentError) -> &'static str {
    match error {
        DocumentError::Malformed("id") => "DID Core 1.0 §5.1.1",
        DocumentError::Malformed("controller") => "DID Core 1.0 §5.1.2",
        DocumentError::Malformed("alsoKnownAs") => "DID Core 1.0 §5.1.3",
        DocumentError::Malformed("service") => "DID Core 1.0 §5.4",
        DocumentError::Malformed("@context") => "DID Core 1.0 §6.3.2",
        DocumentError::Malformed("verification relationship") => "DID Core 1.0 §5.3",
        DocumentError::PrivateKey | DocumentError::Key(_) => "DID Core 1.0 §5.2.1",
        _ => "DID Core 1.0 §5.2",
    }
}

/// References within the document that lead nowhere, and keys that can't be used.
fn references(document: &Document) -> Vec<ShownProblem> {
    let known: BTreeSet<String> = document
        .methods()
        .map(|method| method.id.to_string())
        .collect();
    let mut problems = Vec::new();
    for relationship in Relationship::ALL {
        for reference in document.references(relationship) {
            let KeyReference::Id(id) = reference else {
                continue;
            };
            let name = id.to_string();
            let is_own = name
                .strip_prefix(document.id.as_str())
                .is_some_and(|rest| rest.starts_with('#'));
            if is_own && !known.contains(&name) {
                let what = format!(
                    "{} names {name}, which is no verification method",
                    relationship.as_str()
                );
                problems.push(ShownProblem::new(what, "DID Core 1.0 §5.3"));
            } else if is_own
                && Relationship::SIGNING.contains(&relationship)
                && let Err(error) = document.key(id, relationship)
            {
                let what = format!("{name}: {error}");
                problems.push(ShownProblem::new(what, paragraph(&error)));
            }
        }
    }
    problems
}
