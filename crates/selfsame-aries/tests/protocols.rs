//! The machines: each against its RFC's table of states, against every input, and against the other side.

#[path = "protocols/connections.rs"]
mod connections;
#[path = "protocols/credentials.rs"]
mod credentials;
#[path = "protocols/exchange.rs"]
mod exchange;
#[path = "protocols/handshake.rs"]
mod handshake;
#[path = "protocols/others.rs"]
mod others;
#[path = "protocols/out_of_band.rs"]
mod out_of_band;
#[path = "protocols/table.rs"]
mod table;
#[path = "protocols/world.rs"]
mod world;
