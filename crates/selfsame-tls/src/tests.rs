//! Whole connections: between our own ends, and with rustls.

mod own;
mod rustls;
