//! Owns: what the tests of several crates share: the properties of every parser of outside bytes with inputs for them,
//! and fakes of external services and of a consensus engine,
//! and tokens of SoftHSM.
//! Does not own: the vectors and the tests of single crates; nothing here ships.

pub mod cheqd;
pub mod consensus;
pub mod fuzz_bodies;
pub mod softhsm;
pub mod witness;

pub use selfsame_bench::fake_server;
