//! Whole connections: between our own ends, with rustls, with OpenSSL.

mod attacks;
mod cells;
mod draft;
mod hello;
mod network;
mod openssl;
mod own;
mod post_quantum;
mod puppet;
mod resumption;
mod revocation;
mod rustls;
mod selfsame;
mod ssi;
mod staples;
mod table;
mod traces;
