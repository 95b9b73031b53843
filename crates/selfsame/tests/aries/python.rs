//! ACA-Py, from an environment of Python that `cargo xtask cross aries acapy` makes. Its AnonCreds objects are in our
//! registry, by a plug-in of ours.

use std::path::PathBuf;
use std::process::Command;

use crate::cases::{meet, new_did, ours_moves, peer_holds, peer_issues, peer_moves};
use crate::connecting::Handshake;
use crate::peer::{Meeting, PeerSettings};
use crate::stage::{Stage, Wanted};

/// The study's calls do not request what is offered.
const STUDY: &str = "auto_respond_credential_offer = true\n";

#[test]
#[ignore = "needs ACA-Py: cargo xtask cross aries runs it"]
fn each_side_invites_and_both_talk() {
    let versions = ["1.1", "1.0"].map(Handshake::DidExchange);
    meet(&Meeting::with(acapy), &versions);
}

#[test]
#[ignore = "needs ACA-Py: cargo xtask cross aries runs it"]
fn acapy_moves_to_another_did() {
    peer_moves(&Meeting::with(acapy), new_did);
}

#[test]
#[ignore = "needs ACA-Py: cargo xtask cross aries runs it"]
fn we_move_to_another_did() {
    ours_moves(&Meeting::with(acapy));
}

#[test]
#[ignore = "needs ACA-Py: cargo xtask cross aries runs it"]
fn acapy_holds_and_proves_what_we_issue_and_verify() {
    peer_holds(&Meeting::with(acapy));
}

#[test]
#[ignore = "needs ACA-Py: cargo xtask cross aries runs it"]
fn we_hold_and_prove_what_acapy_issues_and_verifies() {
    peer_issues(&Meeting::with(acapy));
}

#[test]
#[ignore = "needs packages of Python: cargo xtask cross aries runs it"]
fn the_client_made_of_acapys_description_drives_three_of_ours() {
    assert_eq!(driven("client.py", STUDY), "true");
}

#[test]
#[ignore = "needs packages of Python: cargo xtask cross aries runs it"]
fn acapys_controller_drives_three_of_ours() {
    assert_eq!(driven("controller.py", ""), "true");
}

/// What a controller in Python prints that drives three processes of ours; the patient's agent is set to this.
fn driven(script: &str, patient: &str) -> String {
    let stage = Stage::new();
    let registry = stage.registry();
    let wanted = [("doctor", ""), ("patient", patient), ("pharmacy", "")];
    let [doctor, patient, pharmacy] = stage.agents(
        &registry,
        wanted.map(|(organisation, settings)| Wanted {
            organisation,
            settings,
        }),
    );
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/aries/controllers")
        .join(script);
    let output = Command::new(python())
        .arg(script)
        .env("DOCTOR", doctor.admin.base())
        .env("PATIENT", patient.admin.base())
        .env("PHARMACY", pharmacy.admin.base())
        .output()
        .unwrap();
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{failed}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Starts ACA-Py.
fn acapy(settings: &PeerSettings) -> Command {
    let (admin, inbound) = (settings.admin.to_string(), settings.inbound.to_string());
    let tails = format!("{}/tails", settings.origin);
    let mut command = Command::new(python());
    command
        .args(["-m", "acapy_agent", "start", "--label", "acapy"])
        .args(["--admin", "127.0.0.1", &admin, "--admin-insecure-mode"])
        .args(["--inbound-transport", "http", "127.0.0.1", &inbound])
        .args(["--outbound-transport", "http", "--endpoint"])
        .arg(format!("http://127.0.0.1:{inbound}"))
        .args(["--wallet-type", "askar-anoncreds", "--wallet-name", "acapy"])
        .args(["--wallet-key", "acapy", "--auto-provision", "--no-ledger"])
        .args(["--plugin", "selfsame_registry"])
        .args(["--tails-server-base-url", &tails])
        .args(["--tails-server-upload-url", &tails])
        .args(["--webhook-url", settings.hook.trim_end_matches('/')])
        .args(["--preserve-exchange-records", "--notify-revocation"])
        .args(["--monitor-revocation-notification", "--monitor-ping"])
        .args(["--log-level", "info"])
        .env("HOME", &settings.folder)
        .env("PYTHONPATH", plug_ins())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SELFSAME_ORIGIN", &settings.origin)
        .env("SELFSAME_TOKEN", &settings.token)
        .env("SELFSAME_DID", &settings.did)
        .env("SELFSAME_SEED", settings.seed);
    command
}

/// The environment's Python.
fn python() -> PathBuf {
    let python = std::env::var_os("SELFSAME_ACAPY_PYTHON");
    python
        .expect("where ACA-Py is: cargo xtask cross aries says so")
        .into()
}

fn plug_ins() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/aries/acapy")
}
