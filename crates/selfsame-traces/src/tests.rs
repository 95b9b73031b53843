//! Tests: the present span, what goes to a collector, and a collector that is away.

mod contexts;
mod exporting;
mod spans;
