//! Issuing lists: a file with a row for each person, all of whom are offered a credential of one type.
//!
//! Owns: how columns become claims, the checks before the first offer, progress that survives a restart, what came of each
//! row. Does not own: how a file is written, which is `selfsame-sheets`; offers, which are `selfsame-openid`'s; HTTP.

mod columns;
mod lists;
mod mail;
mod receive;
mod record;
mod results;
mod row;
mod search;
#[cfg(test)]
mod tests;
mod work;

pub use columns::{example, header};
pub use lists::IssuingLists;
pub use mail::ListMail;
pub use receive::FilePortion;
pub use results::PrintedRows;
pub use selfsame_issuing_view as view;
pub use selfsame_issuing_view::PRINTED_MAX;
