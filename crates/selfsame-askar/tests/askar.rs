//! Wallets as Askar writes them, as our own writer writes them, and as they should not be.

#[path = "askar/damage.rs"]
mod damage;
#[path = "askar/python.rs"]
mod python;
#[path = "askar/read.rs"]
mod read;
#[path = "askar/round_trip.rs"]
mod round_trip;
#[path = "askar/server.rs"]
mod server;
#[path = "askar/vectors.rs"]
mod vectors;
#[path = "askar/writer.rs"]
mod writer;
