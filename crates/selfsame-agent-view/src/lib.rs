//! What controllers of Aries agents see of records. The members have the names of ACA-Py's admin API.
//!
//! Owns: the views of connections, invitations, exchanges and questions about features; an exchange message by message,
//! without secrets; the request for what a prover proposes in version 1.0. Does not own: the records (`selfsame-aries`), how they are kept (`selfsame-agent`), addresses
//! and statuses (`selfsame-acapy`).

pub mod attachments;
pub mod connection;
pub mod discovery;
pub mod exchange;
mod masked;
pub mod out_of_band;
pub mod proposal;
pub mod seen;
