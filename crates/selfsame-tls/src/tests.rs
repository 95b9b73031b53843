//! Whole connections: between our own ends, with rustls, with OpenSSL, with Go, GnuTLS and NSS, with the second implementation.

mod attacks;
mod between;
mod cells;
mod draft;
mod early;
mod golang;
mod hello;
mod java;
mod network;
mod openssl;
mod others;
mod own;
mod post_quantum;
mod programs;
mod puppet;
mod python;
mod rejudge;
mod resumption;
mod revocation;
mod rustls;
mod selfsame;
mod ssi;
mod stapled_lists;
mod staples;
mod table;
mod traces;
