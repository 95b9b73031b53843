//! Owns: what the tests of several crates share: the rules of every parser of outside bytes, and inputs for them;
//! stand-ins for services of others and for an engine.
//! Does not own: the vectors and the tests of single crates; nothing here ships.

pub mod cheqd;
pub mod consensus;
pub mod fuzz_bodies;
pub mod witness;

pub use selfsame_bench::late;
