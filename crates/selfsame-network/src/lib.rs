//! Networks of registry nodes: founding one, joining it, changing its validators, and what its nodes prove.
//!
//! Owns: the files of a network besides its nodes' own, the client of a node, the judgement of a network's status, the
//! processes of a network on this machine, data directories and the check of one. Does not own: a node's work and the
//! engine's files, the rules of the registry, the verification of reads, the terminal.

pub mod archive;
pub mod checkup;
pub mod directory;
mod error;
pub mod files;
pub mod founding;
pub mod joining;
pub mod loopback;
mod node_client;
pub mod readiness;
pub mod standing;
pub mod status;
pub mod validators;

pub use error::NetworkError;
pub use node_client::{Believed, NodeClient};
