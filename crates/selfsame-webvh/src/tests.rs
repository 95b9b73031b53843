//! Logs that are made here, entry by entry, also such that no controller should make.

mod faults;
mod kit;
mod properties;
mod resolving;
mod vectors;
mod witnesses;
mod writing;
