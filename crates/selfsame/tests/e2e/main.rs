//! The real binary, end to end, only through HTTP and the command line.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of a process measure real time and open their own connections"
)]
#![expect(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "tables of bad input are read from top to bottom"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;

mod acme;
mod agents;
mod anoncreds_types;
mod asking;
mod bad_input;
mod bulk;
mod certificates;
mod check;
mod cli;
#[path = "../support/collector.rs"]
mod collector;
mod copies;
mod did;
mod doors;
mod foreign;
mod forks;
mod full;
mod guide;
mod healthcare;
mod hosts;
mod hsm;
mod inward;
mod issued;
mod listing;
#[path = "../support/load.rs"]
mod load;
mod matrix;
mod operating;
mod organisations;
mod over;
#[path = "../../../selfsame-acme/tests/server/pebble.rs"]
mod pebble;
mod people;
mod permits;
mod pkcs12;
mod postgres;
#[path = "../../../selfsame-postgres/tests/server/server.rs"]
mod postgres_server;
mod races;
mod refusals;
mod replicas;
#[path = "../support/replicas.rs"]
mod replicas_rig;
mod requests;
mod responses;
mod rig;
mod rotation;
mod scenarios;
mod service;
mod starting;
mod telling;
mod tenants;
mod traces;
