//! Credential types as data: what a credential of a type says, how it looks, and how its claims are checked.
//!
//! Owns: the file of a type, its checks, the documents and forms made from it, imports from other descriptions, the file
//! of a saved request, and the records of an organisation's types. Does not own: who may change a type, how credentials are issued, HTTP.

mod anoncreds_objects;
pub mod asked;
mod check;
pub mod color;
mod date;
mod derived;
pub mod editor;
pub mod file;
pub mod fill;
pub mod form;
mod formats;
pub mod image;
pub mod import;
mod labels;
pub mod model;
pub mod project;
mod records;
pub mod samples;

pub use check::{Checked, check};
pub use image::Picture;
pub use model::{ClaimKind, CredentialType, TypeClaim, TypeDefinition};
pub use records::{DocumentKind, OwnTypes, Owner, PUBLISHED, TypeSet, TypeSummary, Types};
