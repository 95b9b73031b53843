//! Whole connections: between our own ends, and with rustls.

mod cells;
mod own;
mod rustls;
mod ssi;
