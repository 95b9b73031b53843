//! Networks of validators with the real engine, on loopback, and the faults that they must survive.

mod actor;
mod bad_input;
mod clocks;
mod cluster;
mod disks;
mod doubles;
mod flood;
mod four;
mod halves;
mod joining;
mod load;
mod lost;
mod machine;
mod mixed;
mod namespaces;
mod one;
mod partition;
mod peers;
mod process;
mod races;
mod told;
mod wires;

/// Networks take turns, since each needs the whole machine.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
