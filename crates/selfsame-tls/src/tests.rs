//! Whole connections: between our own ends, with rustls, with OpenSSL, with Go, with the second implementation.

mod attacks;
mod cells;
mod golang;
mod hello;
mod openssl;
mod own;
mod programs;
mod puppet;
mod python;
mod resumption;
mod rustls;
mod ssi;
