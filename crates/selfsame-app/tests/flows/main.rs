//! Whole flows over HTTP on loopback: what is kept, what is refused, and what a fault at any point leaves behind.

mod accounts;
mod backend;
mod issuing;
mod naming;
mod network;
mod receiving;
mod routes;
mod single_use;
mod verifying;
mod world;
