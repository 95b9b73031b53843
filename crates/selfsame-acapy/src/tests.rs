//! The operations as controllers meet them, without a socket for the admin API; agents reach each other on loopback.

mod book;
mod bulk;
mod connecting;
mod credential_types;
mod data_integrity;
mod did_exchange;
mod endorsing;
mod first_versions;
mod hearing;
mod jwt_credentials;
mod ledger;
mod listening;
mod mediation;
mod out_of_band;
mod phone;
mod refusing;
mod returning;
mod revoking;
mod single_use;
mod sockets;
mod study;
mod sub_wallets;
mod surface;
mod unqualified;
mod v2;
mod world;
