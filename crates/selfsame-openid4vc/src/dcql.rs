//! DCQL, the query language of OpenID4VP 1.0 §6: read a query, choose credentials for it, check an answer to it.
//!
//! The wallet calls [`select()`], the verifier [`check()`]. Both read claims from a JSON object: for an SD-JWT VC its
//! processed payload, for a W3C credential the credential itself (not the claims of the JWT or of the presentation).

mod authority;
mod check;
mod fault;
mod matching;
mod parse;
mod query;
mod reader;
mod select;

#[cfg(test)]
mod tests;

pub use authority::authority_keys;
pub use check::{CheckedAnswer, Unmet, check, mismatch};
pub use fault::{DcqlError, Fault};
pub use matching::{Candidate, Mismatch, narrowest_type};
pub use query::{
    ClaimQuery, ClaimValue, CredentialQuery, CredentialSet, DcqlQuery, Meta, TrustedAuthority,
};
pub use select::{Match, QueryMatches, Selection, SetMatches, select};
