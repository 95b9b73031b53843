//! What a group of batches makes of the rows it touches. Pure: rows in, answers and changes out.
//!
//! The batches are judged one after the other, each against what those before it left. One whose conditions fail leaves
//! nothing; the changes of the others are written together, each row once.

mod changes;
mod judging;
mod outbox;
mod touched;

pub(crate) use changes::{EntryChange, RecordChange, RowChanges};
pub(crate) use judging::{JudgedGroup, judge};
pub(crate) use touched::{CounterName, Doomed, FoundRows, Touched};

#[cfg(test)]
mod tests;
