//! Whole flows over HTTP on loopback: what is stored, what is refused, and the state after a fault at any point.

mod accounts;
mod agreeing;
mod applying;
mod asking;
mod attesting;
mod backend;
mod carrying;
mod documents;
mod finding;
mod issuing;
mod linked;
mod listing;
mod machines;
mod naming;
mod network;
mod notifying;
mod preparing;
mod receiving;
mod routes;
mod signing_in;
mod single_use;
mod types;
mod verifying;
mod world;
