//! The commands `selfsame anoncreds …`: each step of AnonCreds separately, with messages in files or pipes.
//!
//! Owns: the family of commands, how each message is read and written, how an error is worded with the options. Does not
//! own: AnonCreds (`selfsame-anoncreds`), what issuer, holder and verifier do with it (`selfsame-anoncreds-roles`), the
//! registry.

mod command;
mod failure;
mod files;
mod holder;
mod issuer;
mod key;
mod registry;
mod verifier;

pub use command::AnonCreds;
