//! What every protocol of an Aries agent stands on.
//!
//! Owns: what the agents of a process share; the machine that drives the records of all protocols, and delivers what
//! their steps send; notices of records to controllers. Does not own: the protocols and their records (selfsame-agent),
//! how messages reach peers (selfsame-mediation).

pub mod machine;
pub mod notice;
pub mod parts;
pub mod taken;
