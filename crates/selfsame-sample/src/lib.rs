//! A sample service at which people sign in with an OpenID provider.
//!
//! Owns: its addresses, its visits, what it shows of what it learned. Does not own: the client's half of the protocol,
//! which is of `selfsame-identity`; HTML; a provider, which it knows by its addresses alone.

mod files;
mod pages;
mod service;
mod visits;

pub use service::{SampleService, SampleSettings};
