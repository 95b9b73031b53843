//! JSON-LD as a dataset of RDF. Only this module knows the library that does it.
//!
//! What would be dropped on the way is an error. The library is told to keep everything, and what it made is checked:
//! terms and references without a meaning have IRIs that begin with [`UNDEFINED`] (see [`crate::contexts`]).

mod document;
mod quads;

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxjsonld::{JsonLdParser, JsonLdRemoteDocument, SliceJsonLdParser};
use serde_json::{Map, Value};

use crate::contexts::{Contexts, UNDEFINED, UsedNames};
use crate::rdf::{Dataset, RdfTerm};
use crate::suite::SuiteDigest;
use crate::{IntegrityError, rdfc};

/// Quads of one document, at most.
const QUADS_MAX: usize = 20_000;

/// The dataset of a document.
///
/// # Errors
/// [`IntegrityError::DataLoss`] if a part of it would be missing, [`IntegrityError::UnknownContext`],
/// [`IntegrityError::TooMany`], [`IntegrityError::Transformation`] if it is not JSON-LD.
pub(crate) fn dataset(
    document: &Map<String, Value>,
    contexts: &Contexts,
) -> Result<Dataset, IntegrityError> {
    let written = document::written(document, contexts)?;
    let (known, names) = (contexts.clone(), UsedNames::of(document));
    let load = move |url: &str, _: &_| match known.text(url, &names) {
        Some(document) => Ok(JsonLdRemoteDocument {
            document,
            // The library takes a term for another one if it comes from another address, even if it is defined alike.
            document_url: base(),
        }),
        None => Err("the context is not known".into()),
    };
    let parser = JsonLdParser::new()
        // It would drop malformed IRIs; they are checked below.
        .lenient()
        .with_base_iri(base())
        .map_err(|_| not_json_ld())?
        .for_slice(&written.text)
        .with_load_document_callback(load);
    // Whatever a document makes the library do, the caller gets an error.
    let made = catch_unwind(AssertUnwindSafe(|| collected(parser)));
    let made = made.unwrap_or_else(|_| Err(not_json_ld()))?;
    made.dataset(written.joined)
}

/// Checks that everything in a document has a meaning in its contexts, and that it has a canonical form as a dataset.
///
/// # Errors
/// As those of a signature in a suite of datasets.
pub fn check_dataset(
    document: &Map<String, Value>,
    contexts: &Contexts,
) -> Result<(), IntegrityError> {
    let dataset = dataset(document, contexts)?;
    rdfc::canonical(&dataset, SuiteDigest::Sha256).map(drop)
}

/// The types of a document, as its contexts expand them: IRIs.
///
/// # Errors
/// [`IntegrityError::DataLoss`] for a type that no context defines, [`IntegrityError::UnknownContext`],
/// [`IntegrityError::Malformed`] without a type, and otherwise if it is not JSON-LD.
pub fn expanded_types(
    document: &Map<String, Value>,
    contexts: &Contexts,
) -> Result<Vec<String>, IntegrityError> {
    let is_of_types = |name: &str| ["@context", "@type", "type"].contains(&name);
    let members = document.iter().filter(|(name, _)| is_of_types(name));
    let typed: Map<String, Value> = members
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !typed.keys().any(|name| name != "@context") {
        return Err(IntegrityError::Malformed("type"));
    }
    let quads = dataset(&typed, contexts)?.quads.into_iter();
    let types = quads.filter_map(|quad| match quad.object {
        RdfTerm::Iri(iri) if quad.predicate == quads::TYPE => Some(iri),
        _ => None,
    });
    Ok(types.collect())
}

fn collected(parser: SliceJsonLdParser<'_>) -> Result<quads::MadeDataset, IntegrityError> {
    let mut made = quads::MadeDataset::default();
    for quad in parser {
        made.add(quad.map_err(|_| not_json_ld())?)?;
        if made.len() > QUADS_MAX {
            return Err(IntegrityError::TooMany("statements"));
        }
    }
    Ok(made)
}

/// What relative references are resolved against, so that they are found.
fn base() -> String {
    format!("{UNDEFINED}base/")
}

fn not_json_ld() -> IntegrityError {
    IntegrityError::Transformation("it is not JSON-LD")
}

#[cfg(test)]
mod tests;
