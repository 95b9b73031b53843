//! Each relying party signs somebody in.

use std::path::PathBuf;
use std::process::Command;

use crate::http::Reply;
use crate::place::{MAIL, Provider};

/// What `cargo xtask cross relying-parties` has prepared, by the variable that names it.
fn prepared(variable: &str) -> PathBuf {
    let named = std::env::var_os(variable);
    let told = "cargo xtask cross relying-parties prepares it";
    named.expect(told).into()
}

fn own(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/parties")
        .join(path)
}

fn says(page: &Reply, text: &str) -> bool {
    String::from_utf8_lossy(&page.body).contains(text)
}

#[test]
#[ignore = "needs oauth2-proxy: cargo xtask cross relying-parties runs it"]
fn oauth2_proxy_signs_people_in() {
    let provider = Provider::start();
    let party = provider.register("oauth2-proxy", "oauth2/callback");
    let mut proxy = Command::new(prepared("SELFSAME_PARTY_PROXY"));
    proxy
        .arg(format!("--http-address=127.0.0.1:{}", party.port))
        .arg(format!("--oidc-issuer-url={}", party.issuer))
        .arg(format!("--client-id={}", party.client_id))
        .arg(format!("--client-secret={}", party.client_secret))
        .arg(format!("--redirect-url={}oauth2/callback", party.origin))
        .args([
            "--provider=oidc",
            "--code-challenge-method=S256",
            "--scope=openid email",
            "--email-domain=*",
            "--insecure-oidc-allow-unverified-email=true",
            "--cookie-secret=0123456789abcdef0123456789abcdef",
            "--cookie-secure=false",
            "--skip-provider-button=true",
            "--upstream=static://200",
        ]);
    let running = party.start(&mut proxy);
    let seen = running.signs_in("oauth2/start?rd=/oauth2/userinfo");
    assert_eq!(seen.status, 200, "{seen:?}");
    assert_eq!(seen.json()["email"], MAIL, "{seen:?}");
}

#[test]
#[ignore = "needs packages of Python: cargo xtask cross relying-parties runs it"]
fn authlib_signs_people_in() {
    let provider = Provider::start();
    let party = provider.register("Authlib", "callback");
    let mut python = Command::new(prepared("SELFSAME_PARTY_PYTHON"));
    let running = party.start(python.arg(own("python/app.py")));
    let seen = running.signs_in("");
    assert_eq!(seen.status, 200, "{seen:?}");
    assert!(says(&seen, MAIL), "{seen:?}");
}

#[test]
#[ignore = "needs packages of Node.js: cargo xtask cross relying-parties runs it"]
fn passport_signs_people_in() {
    let provider = Provider::start();
    let party = provider.register("Passport", "callback");
    let folder = prepared("SELFSAME_PARTY_NODE");
    let mut node = Command::new("node");
    let running = party.start(node.arg("app.mjs").current_dir(folder));
    let seen = running.signs_in("");
    assert_eq!(seen.status, 200, "{seen:?}");
    assert!(says(&seen, MAIL), "{seen:?}");
}

#[test]
#[ignore = "needs packages of Java: cargo xtask cross relying-parties runs it"]
fn spring_security_signs_people_in() {
    let provider = Provider::start();
    let party = provider.register("Spring", "login/oauth2/code/selfsame");
    let mut java = Command::new("java");
    let archive = prepared("SELFSAME_PARTY_JAVA");
    let running = party.start(java.arg("-jar").arg(archive));
    let seen = running.signs_in("");
    assert_eq!(seen.status, 200, "{seen:?}");
    assert!(says(&seen, MAIL), "{seen:?}");
}
