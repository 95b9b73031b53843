//! A proxy with TLS on one side and plain TCP on the other.
//!
//! Owns: the accept loop and its limits, the connection to the other end, the header about the client, the figures.
//! Does not own: the TLS configuration and when it is read again, the protocol, what is printed.

mod bounds;
mod carry;
mod figures;
mod header;

pub use bounds::ProxyBounds;
pub use carry::{Admitted, Carriage, Direction, Relay, Terms};
pub use figures::{Figures, way_of};
