//! Owns: what the tests of several crates share: the rules of every parser of outside bytes, and inputs for them.
//! Does not own: the vectors and the tests of single crates; nothing here ships.

pub mod fuzz_bodies;
