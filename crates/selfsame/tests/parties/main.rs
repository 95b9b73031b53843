//! Relying parties made by others sign people in at the strict preset: a reverse proxy, and a stock application
//! framework of each of Python, Node.js and Java. `cargo xtask cross relying-parties`.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of processes starts them, and measures real time"
)]
#![allow(
    dead_code,
    reason = "the support is shared, and each test uses its part of it"
)]

mod browser;
#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;
mod place;
mod relying_party;
