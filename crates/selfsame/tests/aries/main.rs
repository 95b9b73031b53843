//! Aries agents in processes of their own, driven by their admin APIs.
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
mod connecting;
mod hearing;
mod issuing;
mod processes;
mod proving;
mod stage;
