//! What a group of batches makes of the rows it touches. Pure: rows in, answers and changes out.
//!
//! The batches are judged one after the other, each against what those before it left. One whose conditions fail leaves
//! nothing; the changes of the others are written together, each row once.

mod changes;
mod judging;
mod outbox;
mod touched;

pub(crate) use changes::{Changes, EntryChange, RecordChange};
pub(crate) use judging::{Judged, judge};
pub(crate) use touched::{CounterName, Doomed, Rows, Touched};

#[cfg(test)]
mod tests;
