//! Wallets of Askar that come into an instance: those in `vectors/askar`, those that Askar makes now, and large ones.

#[path = "askar/content.rs"]
mod content;
#[path = "moves/home.rs"]
mod home;
#[path = "askar/python.rs"]
mod python;
#[path = "../../selfsame-postgres/tests/server/server.rs"]
mod server;
#[path = "askar/vectors.rs"]
mod vectors;
#[path = "../../selfsame-askar/tests/askar/writer.rs"]
mod writer;

// The writer, which is a file of another crate, uses these.
use {aws_lc_rs as _, minicbor as _, rusqlite as _};
