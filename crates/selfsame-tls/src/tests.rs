//! Whole connections: between our own ends, with rustls, with OpenSSL.

mod attacks;
mod cells;
mod hello;
mod openssl;
mod own;
mod puppet;
mod resumption;
mod rustls;
mod selfsame;
mod ssi;
mod table;
mod traces;
