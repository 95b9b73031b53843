//! The role of an organisation that shows credentials about others.
//!
//! Owns: the records of a book, what may be entered, how the index follows the records, erasure, which facts are shown.
//! Does not own: the mapping of a type (`selfsame-book`), how the index searches, the shape of answers, HTTP.

mod books;
mod erasing;
mod following;
mod inactive;
mod loading;
mod proving;
mod reading;
mod rebuilding;
mod standing;
mod unindexed;

pub use books::{Book, Books};
pub use loading::{LoadedEntry, NewCredentials, QuickLoad, QuickRow};
pub use reading::{SETS_MAX, Search};
pub use unindexed::UnindexedNote;
