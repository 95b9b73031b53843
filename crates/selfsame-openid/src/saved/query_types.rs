//! The types of credentials that a query asks for.

use std::collections::BTreeSet;

use selfsame_openid4vc::dcql::{CredentialQuery, DcqlQuery, Meta, narrowest_type};

/// The types in one credential query: each `vct`, and of each list of W3C types the narrowest one.
pub(super) fn of_credential(query: &CredentialQuery) -> Vec<&str> {
    match &query.meta {
        Meta::SdJwtVc { vct_values } => vct_values.iter().map(String::as_str).collect(),
        Meta::W3c { type_values } => type_values
            .iter()
            .filter_map(|list| narrowest_type(list))
            .collect(),
        Meta::Mdoc { doctype_value } => vec![doctype_value],
        Meta::Other(_) => Vec::new(),
    }
}

/// The types in a query.
pub(super) fn of_query(query: &DcqlQuery) -> BTreeSet<&str> {
    query.credentials().iter().flat_map(of_credential).collect()
}
