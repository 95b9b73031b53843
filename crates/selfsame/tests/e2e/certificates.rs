//! Certificates of mobile documents that the command line makes and explains.

use std::path::Path;

use serde_json::Value;

use crate::rig::{run, selfsame};

fn certificate(folder: &Path, arguments: &str) -> (i32, String, String) {
    let mut command = selfsame();
    command.current_dir(folder).arg("certificate");
    run(command.args(arguments.split(' ')))
}

#[test]
fn certificates_are_made_below_an_authority_and_each_rule_of_their_profiles_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for made in [
        "new iaca --country CH --name Office --out authority",
        "new iaca --country CH --name Other --out other",
        "new signer --authority authority --name Signer --out signer",
        "new reader --authority authority --name Kiosk --out reader",
    ] {
        let (code, printed, complaints) = certificate(at, made);
        assert_eq!(code, 0, "{made}: {printed}{complaints}");
    }
    for (file, role) in [
        ("authority", "authority"),
        ("signer", "signer"),
        ("reader", "reader"),
    ] {
        let asked = format!("explain {file}.pem --authority authority.pem --json");
        let (code, printed, complaints) = certificate(at, &asked);
        assert_eq!(code, 0, "{file}: {printed}{complaints}");
        let explained: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(explained["role"], role);
        let rules = explained["rules"].as_array().unwrap();
        assert!(rules.len() > 3, "{explained}");
        assert!(
            rules.iter().all(|rule| rule["passed"] == true),
            "{explained}"
        );
    }
    let (code, printed, _) = certificate(at, "explain signer.pem --authority other.pem");
    assert_eq!(code, 1, "another authority signed nothing of it: {printed}");
    assert!(printed.contains("path"), "{printed}");
    let (code, _, complaints) = certificate(at, "explain signer.key.pem");
    assert_eq!(code, 2, "a key is no certificate: {complaints}");
    let again = "new signer --authority authority --name Signer --out signer";
    assert_eq!(certificate(at, again).0, 2, "no file is replaced");
    let nowhere = "new iaca --country Utopia --name Office --out nowhere";
    assert_eq!(certificate(at, nowhere).0, 2, "a country has two letters");
}
