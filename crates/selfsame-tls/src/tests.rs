//! Whole connections: between our own ends, and with rustls.

mod attacks;
mod cells;
mod own;
mod puppet;
mod rustls;
mod ssi;
