//! The embedded registry and the instance's DIDs, on every kind of ledger.

mod anoncreds;
mod archive;
mod browse;
mod check;
mod clocks;
mod damage;
mod dids;
mod handshakes;
mod liars;
mod lost;
mod nodes;
mod paper;
mod sequencer;
mod tls;
mod witnesses;
mod world;
