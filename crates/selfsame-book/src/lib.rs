//! A credential book's model: how a credential becomes an entry about a topic, and what can be searched.
//!
//! Owns: the mapping of claims to facts and the form in which people edit it, words, queries, numbers, the form of a kept
//! entry, who wants to hear of it, and what an issuer leaves to its book. Does not own: an index, the records, who may
//! write them, HTTP.

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

pub mod due;
pub mod editor;
pub mod entry;
pub mod facts;
pub mod mapping;
pub mod news;
pub mod number;
pub mod query;
pub mod text;

pub use entry::{BookChange, EntryRecord};
pub use facts::{BookFacts, TopicKey};
pub use mapping::BookMapping;
pub use query::SearchQuery;
