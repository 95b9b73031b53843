//! The role of an organisation that shows credentials about others.
//!
//! Owns: the records of a book, what may be entered, how the index follows the records, erasure, which facts are shown,
//! its subscribers, which AnonCreds credentials are entries. Does not own: the wallet that holds those
//! (`selfsame-anoncreds-wallet`), how an agent presents them, the mapping of a type (`selfsame-book`), how news is sent
//! (`selfsame-webhooks`), how the index searches, the shape of answers, HTTP.

mod agents;
mod anoncreds;
mod arriving;
mod books;
mod editing;
mod entering;
mod erasing;
mod following;
mod inactive;
mod issuer_names;
mod limited;
mod loading;
mod proving;
mod reading;
mod rebuilding;
mod roles;
mod standing;
mod subscribers;
mod unindexed;
mod unread;

pub use agents::BookAgents;
pub use anoncreds::{BookRegistries, BookRegistry, HeldCredentials};
pub use arriving::arrival;
pub use books::{Book, Books};
pub use editing::{EditedMapping, MappingPreview};
pub use entering::{LeftNotes, LeftWork};
pub use loading::{LoadedEntry, NewCredentials, QuickLoad, QuickRow};
pub use reading::{SETS_MAX, Search};
pub use roles::BookRoles;
pub use subscribers::KnownSubscriber;
pub use unindexed::UnindexedNote;
