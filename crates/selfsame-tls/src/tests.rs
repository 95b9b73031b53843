//! Whole connections: between our own ends, with rustls, with OpenSSL, with Go, with the second implementation.

mod attacks;
mod between;
mod cells;
mod draft;
mod golang;
mod hello;
mod network;
mod openssl;
mod own;
mod programs;
mod puppet;
mod python;
mod resumption;
mod revocation;
mod rustls;
mod selfsame;
mod ssi;
mod staples;
mod table;
mod traces;
