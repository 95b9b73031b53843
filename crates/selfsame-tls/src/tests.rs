//! Whole connections: between our own ends, with rustls, with OpenSSL, with the second implementation.

mod attacks;
mod cells;
mod hello;
mod openssl;
mod own;
mod programs;
mod puppet;
mod python;
mod resumption;
mod rustls;
mod ssi;
