//! Owns: what the wallet takes and returns: people, cards, offers and requests: the types that the API, the pages and the
//! command line share, and the lines of an export.
//! Does not own: what the wallet does with them.

pub mod cards;
pub mod carried;
pub mod entries;
pub mod export_file;
pub mod named;
pub mod offers;
pub mod path;
pub mod requests;
pub mod sent;
pub mod table;
pub mod words;
