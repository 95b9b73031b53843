//! The operations as controllers meet them, without a socket for the admin API; agents reach each other on loopback.

mod connecting;
mod did_exchange;
mod first_versions;
mod hearing;
mod ledger;
mod listening;
mod out_of_band;
mod revoking;
mod study;
mod sub_wallets;
mod surface;
mod world;
