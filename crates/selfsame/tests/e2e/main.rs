//! The real binary, end to end, through HTTP and the command line alone.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of a process measure real time and open their own connections"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;

mod bad_input;
mod cli;
mod did;
mod foreign;
mod inward;
mod matrix;
mod requests;
mod rig;
mod scenarios;
