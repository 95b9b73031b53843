//! A provider whose signing keys are in SoftHSM.

use selfsame_testkit::softhsm::SoftHsm;
use serde_json::Value;

use crate::browser::{SigningBrowser, userinfo};
use crate::esignet::SevenCalls;
use crate::instance::{Instance, free_port};
use crate::party::{SecretParty, SigningParty, member};
use crate::place::{CalledReplica, SETTINGS, add_person, until_answered};

#[test]
fn a_provider_signs_with_keys_of_each_type_in_the_token_and_goes_on_after_a_restart_and_a_rotation()
{
    let folder = tempfile::tempdir().unwrap();
    let hsm = SoftHsm::in_folder(&folder.path().join("hsm"));
    hsm.make_token("provider");
    let settings = folder.path().join("settings.toml");
    let token = hsm.uri("provider", "");
    let text = format!("{SETTINGS}pkcs11_keys = true\n[pkcs11]\ntoken = \"{token}\"\n");
    std::fs::write(&settings, text).unwrap();
    let arguments = ["--config", settings.to_str().unwrap()];
    let (name, value) = hsm.environment();
    let (data, port) = (folder.path().join("data"), free_port());
    let start = || {
        let mut instance = Instance::start_in(&[(name, value.as_str())], &data, port, &arguments);
        instance.ready();
        instance
    };
    let mut instance = start();
    let (at, operator) = (CalledReplica::alone(&instance), instance.operator());
    add_person(&at);
    let party = SigningParty::register(&at, operator.token());
    let other = SecretParty::register(&at, operator.token());
    let signs_in = || {
        let mut calls = SevenCalls::until_code(&at, &party);
        calls.redeem(&at, &party);
        assert_eq!(calls.userinfo(&at).status, 200);
        let code = SigningBrowser::code(&at, &other);
        let tokens = until_answered(&other.redemption(&at, &code));
        let access = member(&tokens, "/access_token");
        assert_eq!(userinfo(&at, &access).status, 200);
        access
    };
    let before = signs_in();
    assert_eq!(hsm_keys(&hsm, "provider"), 6);
    instance.kill();
    instance = start();
    signs_in();
    let rotation = operator.send("POST", "/api/sign-in/keys/rotation", None);
    assert!(rotation.unwrap().is_success());
    assert_eq!(hsm_keys(&hsm, "provider"), 9);
    signs_in();
    // What the former key signed is valid as long as before.
    assert_eq!(userinfo(&at, &before).status, 200);
    drop(instance);
}

/// The number of key pairs in a token.
fn hsm_keys(hsm: &SoftHsm, token: &str) -> usize {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_selfsame"));
    let command = hsm.seen_by(&mut command);
    let shown = command.args(["hsm", "show", &hsm.uri(token, ""), "--json"]);
    let shown = shown.output().unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    shown["keys"].as_array().unwrap().len()
}
