//! Tenants that move between instances, in files of SQLite and in PostgreSQL; and files that are not as they should be.

#[path = "moves/home.rs"]
mod home;
#[path = "moves/lines.rs"]
mod lines;
#[path = "../../selfsame-postgres/tests/server/server.rs"]
mod server;
#[path = "moves/there_and_back.rs"]
mod there_and_back;
