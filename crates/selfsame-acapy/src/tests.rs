//! The operations as controllers meet them, without a socket for the admin API; agents reach each other on loopback.

mod bulk;
mod connecting;
mod hearing;
mod single_use;
mod study;
mod sub_wallets;
mod surface;
mod world;
