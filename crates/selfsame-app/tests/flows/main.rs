//! Whole flows over HTTP on loopback: what is stored, what is refused, and the state after a fault at any point.

mod accounts;
mod asking;
mod backend;
mod carrying;
mod issuing;
mod machines;
mod naming;
mod network;
mod receiving;
mod routes;
mod signing_in;
mod single_use;
mod types;
mod verifying;
mod world;
