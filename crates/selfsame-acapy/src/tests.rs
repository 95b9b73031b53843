//! The operations as controllers meet them, without a socket for the admin API; agents reach each other on loopback.

mod bulk;
mod connecting;
mod hearing;
mod mediation;
mod phone;
mod returning;
mod single_use;
mod sockets;
mod study;
mod sub_wallets;
mod surface;
mod world;
