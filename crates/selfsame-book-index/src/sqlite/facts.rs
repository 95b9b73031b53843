//! The facts of a credential as rows, and the facets that it gives its topic.

use selfsame_book::facts::{AddressFact, AttributeFact, NameFact, RelatedTopic};
use selfsame_book::number;
use selfsame_book::query::{Facet, FacetKind};
use serde::{Deserialize, Serialize};

use crate::backend::TextKind;
use crate::error::IndexResult;

/// The facts of a credential, kept to be taken back when another credential replaces it.
#[derive(Deserialize, Serialize)]
pub(super) struct CredentialBody {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NameFact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<AddressFact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<AttributeFact>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<RelatedTopic>,
}

/// A fact of a topic as a row.
pub(super) struct FactRow {
    pub kind: TextKind,
    pub label: String,
    pub text: String,
    pub body: String,
}

/// The facts of a credential as rows.
pub(super) fn rows(body: &CredentialBody) -> IndexResult<Vec<FactRow>> {
    let mut rows = Vec::new();
    for name in &body.names {
        rows.push(FactRow {
            kind: TextKind::Name,
            label: name.kind.clone(),
            text: name.text.clone(),
            body: String::new(),
        });
    }
    for address in &body.addresses {
        rows.push(FactRow {
            kind: TextKind::Address,
            label: String::new(),
            text: address.line(),
            body: serde_json::to_string(address)?,
        });
    }
    for attribute in &body.attributes {
        rows.push(FactRow {
            kind: TextKind::Attribute,
            label: attribute.kind.clone(),
            text: attribute.value.clone(),
            body: attribute.is_facet.to_string(),
        });
    }
    Ok(rows)
}

/// The facets that a credential gives its topic.
pub(super) fn facets(type_id: &str, issuer: &str, body: &CredentialBody) -> Vec<String> {
    let categories = body.attributes.iter().filter(|one| one.is_facet);
    let categories =
        categories.map(|one| (FacetKind::Category, format!("{}::{}", one.kind, one.value)));
    let own = [
        (FacetKind::Issuer, number::issuer(issuer).to_string()),
        (
            FacetKind::CredentialType,
            number::credential_type(type_id).to_string(),
        ),
    ];
    let all = categories.chain(own);
    all.map(|(kind, value)| Facet { kind, value }.to_string())
        .collect()
}
