//! `selfsame tls` with real processes: nodes with credentials of our own issuer, proxies between them, and who is
//! refused.
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
#[path = "../e2e/rig.rs"]
mod rig;

mod carry;
mod certificate;
mod listen;
mod node;
mod proxy;
mod reach;
mod said;
mod server;
mod wrong;
