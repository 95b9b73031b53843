//! Owns: what the roles of OpenID4VC take and return: the types that the API, the pages and the command line share, and
//! the names of a request's options.
//! Does not own: what the roles do with them.

pub mod by_sign_in;
pub mod documents;
pub mod issuer;
pub mod list_faces;
pub mod saved;
pub mod uses;
pub mod verifier;
pub mod words;
