//! Tests of the registry's machine, driven as a sequencer drives it.

mod agreement;
mod anchors;
mod anoncreds;
mod anoncreds_verdicts;
mod authority;
mod batches;
mod deeds;
mod determinism;
mod encoding;
mod fate;
mod golden;
mod golden_further;
mod governance;
mod identities;
mod invariants;
mod limits;
mod operation_vectors;
mod resolution;
mod resources;
mod single_use;
mod vector;
mod world;
