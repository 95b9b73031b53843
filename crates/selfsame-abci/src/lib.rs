//! The registry on CometBFT: the registry's machine, with its transactions ordered by a network of validators.
//!
//! Owns: the answers to the engine's requests over its socket (ABCI 2.0), the engine's files and process, the
//! validators' signatures of checkpoints. Does not own: the rules, the ledger's storage, consensus itself.

mod application;
mod engine;
mod files;
mod light;
mod misbehaviour;
mod node;
mod notes;
mod process_pair;
mod rpc;
mod service;
mod signer;
mod snapshot;
mod supervisor;
mod waiting;

pub use engine::Engine;
pub use files::{Addresses, Beginning, Distance, Founding, Home, Member, Network, StateSync};
pub use node::{Node, Setup};
pub use notes::Noted;
pub use signer::CheckpointKey;
