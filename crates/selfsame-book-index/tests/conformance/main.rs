//! One suite for each index.

mod ground;
#[path = "../../../selfsame-postgres/tests/server/server.rs"]
mod server;
mod suite;

use ground::Ground;

macro_rules! suite {
    ($($index:ident: $ground:expr;)*) => {$(
        mod $index {
            use super::{Ground, suite};

            suite::checks! { $ground }
        }
    )*};
}

suite! {
    sqlite: Ground::file();
    sqlite_in_memory: Ground::memory();
    postgres: Ground::database();
}
