use std::path::Path;

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::private_file;
use selfsame_proof::note::VerifierKey;
use selfsame_proof::validators::{Validator, ValidatorSet};

use super::*;

/// `[registry]` in a file of this directory.
fn registry_in(directory: &Path, text: &str) -> Result<RegistrySettings, toml::de::Error> {
    let mut settings: RegistrySettings = toml::from_str(text)?;
    settings.relative_to(directory).unwrap();
    Ok(settings)
}

fn registry(text: &str) -> RegistrySettings {
    registry_in(Path::new(""), text).unwrap()
}

#[test]
fn a_registry_elsewhere_has_nodes_with_tokens_and_one_network() {
    let nodes = "[[nodes]]\nurl = \"https://a.example/\"\ntoken_file = \"token\"\n";
    let directory = tempfile::tempdir().unwrap();
    let registry = registry_in(directory.path(), nodes).unwrap();
    assert!(registry.nodes().is_err());
    private_file::write(&directory.path().join("token"), b"secret\n").unwrap();
    let read = registry.nodes().unwrap();
    assert_eq!(read[0].token.expose(), "secret");
    assert!(registry.pin().unwrap().is_none());

    let set = ValidatorSet::new(vec![Validator {
        name: "a".to_owned(),
        key: PrivateKey::generate(KeyType::Ed25519)
            .unwrap()
            .public()
            .clone(),
        power: 1,
        consensus: None,
    }]);
    let root = selfsame_proof::read::TrustRoot::of_genesis("selfsame/here", set.unwrap());
    let pinned = |network: &str| RegistrySettings {
        network: Some(network.to_owned()),
        trust_root: Some(directory.path().join("root")),
        ..RegistrySettings::default()
    };
    assert!(pinned("here").pin().is_err());
    std::fs::write(directory.path().join("root"), root.to_bytes()).unwrap();
    assert!(matches!(pinned("here").pin(), Ok(Some(Pin::Trust(read))) if read == root));
    assert!(pinned("there").pin().is_err());
}

#[test]
fn witnesses_are_shown_to_by_address_and_asked_for_by_number() {
    let private = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let key = VerifierKey::witness("example.com/w1", private.public()).unwrap();
    let key = key.to_string();
    let at = format!("witnesses = [{{ key = \"{key}\", url = \"https://w.example/\" }}]\n");
    let shown = registry(&at).shown_to().unwrap();
    assert_eq!((shown.len(), shown[0].key.to_string()), (1, key.clone()));
    assert_eq!(shown[0].url.as_str(), "https://w.example/");
    let asked = format!("witnesses = [\"{key}\"]\nwitnesses_needed = 1\n");
    let quorum = registry(&asked).quorum().unwrap();
    assert_eq!((quorum.keys().len(), quorum.needed()), (1, 1));
    assert!(registry("").shown_to().unwrap().is_empty());
    assert_eq!(registry("").quorum().unwrap().needed(), 0);
    assert!(registry("").without_nodes().is_ok());
    for of_readers in [
        "standstill_s = 60\n",
        "network = \"abc\"\n",
        "trust_root = \"trust-root\"\n",
    ] {
        assert!(
            registry(of_readers).without_nodes().is_err(),
            "{of_readers}"
        );
    }
    // Settings for the other case, and impossible numbers.
    let wrong_keys = at.replace("w1+", "w2+");
    let refused = [
        registry(&asked).shown_to().err(),
        registry(&wrong_keys).shown_to().err(),
    ];
    assert!(refused.iter().all(Option::is_some));
    for text in [
        at.clone(),
        asked.replace("= 1", "= 0"),
        asked.replace("= 1", "= 2"),
        format!("witnesses = [\"{key}\"]\n"),
        "witnesses_needed = 1\n".to_owned(),
        "witnesses = [\"w\"]\nwitnesses_needed = 1\n".to_owned(),
    ] {
        assert!(registry(&text).quorum().is_err(), "{text}");
    }
    assert!(registry_in(Path::new(""), &at.replace("url", "uri")).is_err());
}

#[test]
fn only_the_operator_registers_by_default() {
    assert!(!registry("").open_registration);
    assert!(registry("open_registration = true\n").open_registration);
}
