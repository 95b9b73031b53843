//! Sign-ins at processes of the real binary: several on one database, which are killed and whose database restarts.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of processes measure real time and open their own connections"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

mod browser;
mod doors;
mod esignet;
mod faults;
mod hsm;
#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;
mod party;
mod place;
#[path = "../../../selfsame-postgres/tests/server/server.rs"]
mod postgres_server;
mod races;
#[path = "../support/replicas.rs"]
mod replicas_rig;
