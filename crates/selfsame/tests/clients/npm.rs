//! The clients in TypeScript: openapi-typescript makes the types of the API's, openapi-fetch sends its requests. Another
//! signs a person in with openid-client.

use std::path::PathBuf;
use std::process::Command;

use crate::{description, drive, run};

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross clients runs it"]
fn clients_in_typescript_issue_present_verify_and_sign_in() {
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
    for client in ["client", "sign_in"] {
        drive(Command::new("node").arg(folder.join(format!("built/{client}.js"))));
    }
}
