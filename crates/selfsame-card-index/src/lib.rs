//! An index of the cards in a wallet: groups are counted, and their cards found, without opening cards.
//!
//! Owns: the rows of the index, how they follow the cards, groups and their pages. Does not own: what a card is, who owns
//! it, how it is shown.

mod groups;
mod index;

pub use groups::{CardGroup, CardGroups, GroupBy, Grouping, groups, page_of};
pub use index::{CardIndex, CardRow, IndexedCard, IndexedCards, UNCHECKED, note};
