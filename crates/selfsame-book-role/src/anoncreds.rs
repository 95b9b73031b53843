//! AnonCreds credentials as entries. The organisation's agent holds them; the book shows of them what the mapping of their
//! type names.

mod claims;
mod entering;
mod policy;
mod proving;
mod registries;
mod verifying;

use std::sync::Arc;

use selfsame_anoncreds_wallet::CredentialInfo;
use selfsame_anoncreds_wallet::show::KeptCredential;
use selfsame_book::due::entry_of_held;
use selfsame_book::mapping::NamedObjects;
use selfsame_types::{CredentialType, TypeSet};

pub use entering::HeldCredentials;
pub(crate) use registries::followed;
pub use registries::{BookRegistries, BookRegistry};

/// The type of a credential whose issuer is not known to anybody but by its definition: one that names its schema or its
/// definition, or else the one of the organisation whose schema it is.
fn type_of<'a>(
    types: &'a TypeSet,
    own: &[String],
    kept: &KeptCredential,
) -> Option<&'a Arc<CredentialType>> {
    let info = &kept.info;
    let forms = [
        NamedObjects {
            schema_id: &kept.schema_id,
            definition_id: &kept.cred_def_id,
        },
        NamedObjects {
            schema_id: &info.schema_id,
            definition_id: &info.cred_def_id,
        },
    ];
    let is_named = |one: &&Arc<CredentialType>| {
        let mapping = one.book.as_ref();
        mapping.is_some_and(|mapping| forms.iter().any(|form| mapping.anoncreds.names(*form)))
    };
    let named = types.newest_of_each().find(is_named);
    named.or_else(|| {
        let is_own = own.contains(&kept.schema_issuer_id);
        let newest = types.newest(&kept.schema_name).filter(|_| is_own);
        newest.filter(|one| one.book.is_some())
    })
}

/// The identifier of the entry of a credential. One with other values or in another place of a registry has another.
pub(crate) fn entry_id(info: &CredentialInfo) -> String {
    let place = info.cred_rev_id.as_deref().unwrap_or_default();
    let mut told = vec![info.referent.as_str(), place];
    for (name, value) in &info.attrs {
        told.extend([name.as_str(), value.as_str()]);
    }
    entry_of_held(&told)
}
