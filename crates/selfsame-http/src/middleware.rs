//! The steps that every request passes before it reaches a handler.

pub mod admission;
pub mod budget;
pub mod door;
pub mod headers;
pub mod observe;
pub mod turns;
