//! What tests find through the environment of their process.

use std::process::Command;

use crate::{
    collector, engine, openssl, oracle, pebble,
    workspace::{cargo, root},
};

/// Cargo with these arguments, and with what our tests find through its environment.
pub fn cargo_with(arguments: &[String]) -> Command {
    println!("    cargo {}", arguments.join(" "));
    let mut command = Command::new(cargo());
    // Dependencies are not documented, so this variable causes no rebuild.
    command
        .args(arguments)
        .current_dir(root())
        .env("RUSTDOCFLAGS", "--deny warnings");
    oracle::name_to(&mut command);
    engine::name_to(&mut command);
    collector::name_to(&mut command);
    pebble::name_to(&mut command);
    openssl::name_to(&mut command);
    command
}
