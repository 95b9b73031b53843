//! Credo, from packages of Node.js that `cargo xtask cross aries credo` installs. A script of ours puts it behind the
//! part of ACA-Py's admin API that the cases call; its AnonCreds objects are in our registry.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::cases::{meet, ours_moves, peer_holds, peer_issues, peer_moves};
use crate::connecting::Handshake;
use crate::peer::{Meeting, PeerSettings};

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross aries runs it"]
fn each_side_invites_and_both_talk() {
    let handshakes = [Handshake::Connections, Handshake::DidExchange("1.1")];
    meet(&Meeting::with(credo), &handshakes);
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross aries runs it"]
fn credo_moves_to_another_did() {
    peer_moves(&Meeting::with(credo), |_| json!({}));
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross aries runs it"]
fn we_move_to_another_did() {
    ours_moves(&Meeting::with(credo));
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross aries runs it"]
fn credo_holds_and_proves_what_we_issue_and_verify() {
    peer_holds(&Meeting::with(credo));
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross aries runs it"]
fn we_hold_and_prove_what_credo_issues_and_verifies() {
    peer_issues(&Meeting::with(credo));
}

/// Starts Credo, with the libraries that packages of Python ship.
fn credo(settings: &PeerSettings) -> Command {
    let libraries = PathBuf::from(named("SELFSAME_CREDO_LIBRARIES"));
    let packages = PathBuf::from(named("SELFSAME_CREDO"));
    let mut command = Command::new("node");
    command
        .arg(packages.join("main.mjs"))
        .env("LIB_ASKAR_PATH", libraries.join("aries_askar"))
        .env("LIB_ANONCREDS_PATH", libraries.join("anoncreds"))
        .env("ORIGIN", &settings.origin)
        .env("TOKEN", &settings.token)
        .env("DID", &settings.did)
        .env("SEED", settings.seed)
        .env("ADMIN", settings.admin.to_string())
        .env("INBOUND", settings.inbound.to_string())
        .env("FOLDER", &settings.folder)
        .env("HOOK", &settings.hook);
    command
}

fn named(variable: &str) -> std::ffi::OsString {
    let value = std::env::var_os(variable);
    value.expect("where the packages are: cargo xtask cross aries says so")
}
