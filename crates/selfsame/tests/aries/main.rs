//! Aries agents in processes of their own, driven by their admin APIs: ours among themselves, and with other
//! implementations (`cargo xtask cross aries`).
#![expect(
    clippy::disallowed_methods,
    reason = "tests of processes start them, measure real time, and read where the other implementations are"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;

mod admin;
mod cases;
mod connecting;
mod hearing;
mod issuing;
mod npm;
mod peer;
mod processes;
mod proving;
mod python;
mod stage;
