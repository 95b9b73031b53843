//! The registry's machine, driven as a sequencer drives it.

mod agreement;
mod anchors;
mod anoncreds;
mod authority;
mod determinism;
mod encoding;
mod identities;
mod limits;
mod resolution;
mod vector;
mod world;
