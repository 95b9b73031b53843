//! The client in TypeScript: openapi-typescript makes its types, openapi-fetch sends its requests.

use std::path::PathBuf;
use std::process::Command;

use crate::{description, drive, run};

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross clients runs it"]
fn a_client_in_typescript_issues_presents_and_verifies() {
    let folder = PathBuf::from(
        std::env::var_os("SELFSAME_CLIENT_NODE")
            .expect("where the packages are: cargo xtask cross clients says so"),
    );
    let package = |name: &str| {
        let mut command = Command::new("npx");
        command.arg("--no-install").arg(name).current_dir(&folder);
        command
    };
    run(package("openapi-typescript")
        .arg(description())
        .args(["--output", "selfsame.d.ts"]));
    run(&mut package("tsc"));
    drive(Command::new("node").arg(folder.join("built/client.js")));
}
