//! A credential book's model: how a credential becomes an entry about a topic, and what can be searched.
//!
//! Owns: the mapping of claims to facts, words, queries, numbers, and the form of a kept entry. Does not own: an index,
//! the records, who may write them, HTTP.

#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used
    )
)]

pub mod entry;
pub mod facts;
pub mod mapping;
pub mod number;
pub mod query;
pub mod text;

pub use entry::{BookChange, EntryRecord};
pub use facts::{BookFacts, TopicKey};
pub use mapping::BookMapping;
pub use query::SearchQuery;
