//! Networks of validators with the real engine, on loopback.

mod cluster;
mod one;
