//! The embedded registry and the instance's DIDs, over every ledger.

mod archive;
mod browse;
mod dids;
mod nodes;
mod paper;
mod sequencer;
mod tls;
mod world;
