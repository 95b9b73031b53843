//! What the roles take and return: the types that the API, the pages and the command line share.

pub mod issuer;
pub mod saved;
pub mod verifier;
