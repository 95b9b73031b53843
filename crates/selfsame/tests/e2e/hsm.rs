//! Keys in SoftHSM: the master key of the data, and the keys that issuers sign with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use selfsame_crypto::PublicKey;
use selfsame_testkit::softhsm::{PIN, SoftHsm};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Api;
use crate::instance::{Instance, free_port};
use crate::rig::{answer, get, items, person, post, run, selfsame, take, text};

/// A token, and data whose keys are in it.
struct Ward {
    folder: TempDir,
    hsm: SoftHsm,
}

impl Ward {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hsm = SoftHsm::in_folder(&folder.path().join("hsm"));
        hsm.make_token("clinic");
        Self { folder, hsm }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn data(&self) -> PathBuf {
        self.file("data")
    }

    /// A command that sees the token.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = selfsame();
        self.hsm.seen_by(&mut command).args(arguments);
        command
    }

    /// Makes a key in the token.
    fn key(&self, label: &str, kind: &str) -> Value {
        let uri = self.hsm.uri("clinic", label);
        let create = ["hsm", "create-key", &uri, "--type", kind, "--json"];
        let (code, printed, complaints) = run(&mut self.command(&create));
        assert_eq!(code, 0, "{printed}{complaints}");
        serde_json::from_str(&printed).unwrap()
    }

    /// An instance that serves.
    fn serving(&self, arguments: &[&str]) -> (Instance, Api) {
        self.serving_at(free_port(), arguments)
    }

    /// An instance that serves on this port.
    fn serving_at(&self, port: u16, arguments: &[&str]) -> (Instance, Api) {
        let (name, value) = self.hsm.environment();
        let token = self.file("token");
        let mut all = vec!["--operator-token-file", token.to_str().unwrap()];
        all.extend(arguments);
        let environment = [(name, value.as_str())];
        let mut instance = Instance::start_in(&environment, &self.data(), port, &all);
        instance.ready();
        let token = std::fs::read_to_string(&token).unwrap();
        let operator = Api::new(&instance.origin, &token);
        (instance, operator)
    }

    /// What an instance says that does not start.
    fn refused(&self, arguments: &[&str]) -> String {
        self.refused_at(free_port(), arguments)
    }

    /// What an instance on this port says that does not start.
    fn refused_at(&self, port: u16, arguments: &[&str]) -> String {
        let data = self.data();
        let listen = format!("127.0.0.1:{port}");
        let up = ["up", "--no-demo", "--data", data.to_str().unwrap()];
        let mut command = self.command(&up);
        command.args(["--listen", &listen]).args(arguments);
        let (code, printed, complaints) = run(&mut command);
        assert_eq!(code, 2, "{printed}{complaints}");
        complaints
    }

    fn settings(&self, text: &str) -> String {
        let file = self.file("settings.toml");
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// Settings with this token, and more.
    fn with_token(&self, more: &str) -> String {
        let uri = self.hsm.uri("clinic", "");
        self.settings(&format!("[pkcs11]\ntoken = \"{uri}\"\n{more}"))
    }
}

/// Issues, presents and verifies a credential of an organisation, in a format.
fn round(operator: &Api, at: &str, format: &str, who: &str) {
    let person = person(&operator.with_token(""), who);
    let offer = json!({"type": "immunization", "examples": true, "format": format});
    let offer = post(operator, &format!("{at}/api/issuer/offers"), &offer);
    take(&person, &offer);
    let asked = json!({"type": "immunization", "format": format});
    let asked = post(operator, &format!("{at}/api/verifier/requests"), &asked);
    answer(&person, &asked);
    let request = format!("{at}/api/verifier/requests/{}", text(&asked, "id"));
    let verdict = get(operator, &format!("{request}?wait=20"));
    assert_eq!(verdict["verdict"]["outcome"], "valid", "{verdict}");
}

fn holds(folder: &Path, name: &str) -> bool {
    folder.join(name).exists()
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn data_whose_master_key_a_token_encrypts_open_with_the_token_alone() {
    let ward = Ward::new();
    let uri = ward.hsm.uri("clinic", "master");
    let master = ["--master-key-pkcs11", &uri];
    let said = ward.refused(&master);
    assert!(
        said.contains("no key master") && said.contains("create-key"),
        "{said}"
    );
    ward.key("master", "aes");
    let (instance, operator) = ward.serving(&master);
    round(&operator, "", "dc+sd-jwt", "maja");
    let did = get(&operator, "/api/status")["did"].clone();
    drop(instance);
    assert!(holds(&ward.data(), "master-key.wrapped"));
    assert!(!holds(&ward.data(), "master-key"));
    let (instance, operator) = ward.serving(&master);
    assert_eq!(get(&operator, "/api/status")["did"], did);
    drop(instance);

    let said = ward.refused(&[]);
    assert!(
        said.contains("master key of these data is missing"),
        "{said}"
    );
    ward.hsm.write_pin("000000");
    let said = ward.refused(&master);
    assert!(
        said.contains("refuses the PIN") && !said.contains("000000"),
        "{said}"
    );
    ward.hsm.write_pin(PIN);
    ward.key("other", "aes");
    let other = ward.hsm.uri("clinic", "other");
    let said = ward.refused(&["--master-key-pkcs11", &other]);
    assert!(said.contains("can't decrypt the master key"), "{said}");
    let away = ward.file("away");
    std::fs::rename(ward.hsm.tokens(), &away).unwrap();
    std::fs::create_dir(ward.hsm.tokens()).unwrap();
    let said = ward.refused(&master);
    assert!(said.contains("has no token clinic"), "{said}");
    std::fs::remove_dir(ward.hsm.tokens()).unwrap();
    std::fs::rename(&away, ward.hsm.tokens()).unwrap();

    // Without pin-source, the PIN is the environment's.
    let bare = uri.split("&pin-source").next().unwrap();
    let said = ward.refused(&["--master-key-pkcs11", bare]);
    assert!(said.contains("SELFSAME_PKCS11_PIN"), "{said}");
    let wrapped = ward.data().join("master-key.wrapped");
    std::fs::remove_file(wrapped).unwrap();
    let said = ward.refused(&master);
    assert!(said.contains("put the file back"), "{said}");
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn an_issuer_whose_key_is_in_a_token_issues_what_verifiers_accept() {
    let ward = Ward::new();
    for (label, kind) in [("issuer", "p256"), ("other", "ed25519")] {
        ward.key(label, kind);
    }
    let settings = ward.with_token("[issuer]\npkcs11_key = \"issuer\"\n");
    let (instance, operator) = ward.serving(&["--config", &settings]);
    for (format, who) in [
        ("dc+sd-jwt", "maja"),
        ("jwt_vc_json", "noor"),
        ("vc+jwt", "lena"),
    ] {
        round(&operator, "", format, who);
    }
    let metrics = operator.send("GET", "/metrics", None).unwrap();
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    assert!(
        metrics.contains("selfsame_hsm_signatures_total{result=\"made\"}"),
        "{metrics}"
    );
    let did = get(&operator, "/api/status")["did"].clone();
    drop(instance);
    let (instance, operator) = ward.serving(&["--config", &settings]);
    assert_eq!(get(&operator, "/api/status")["did"], did);
    round(&operator, "", "dc+sd-jwt", "iris");
    drop(instance);

    let settings = ward.with_token("[issuer]\npkcs11_key = \"other\"\n");
    let said = ward.refused(&["--config", &settings]);
    assert!(
        said.contains("signs with the key issuer, not with other"),
        "{said}"
    );
    ward.hsm.write_pin("000000");
    let settings = ward.with_token("[issuer]\npkcs11_key = \"issuer\"\n");
    let said = ward.refused(&["--config", &settings]);
    assert!(said.contains("refuses the PIN"), "{said}");
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn an_issuer_signs_with_ed25519_in_a_token() {
    let ward = Ward::new();
    ward.key("issuer", "ed25519");
    let settings = ward.with_token("[issuer]\npkcs11_key = \"issuer\"\n");
    let (_instance, operator) = ward.serving(&["--config", &settings]);
    for (format, who) in [
        ("dc+sd-jwt", "maja"),
        ("jwt_vc_json", "noor"),
        ("vc+jwt", "lena"),
    ] {
        round(&operator, "", format, who);
    }
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn new_organisations_get_keys_of_their_own_in_the_token() {
    let ward = Ward::new();
    let settings = ward.with_token("[organisations]\npkcs11_keys = \"P-256\"\n");
    let (instance, operator) = ward.serving(&["--config", &settings]);
    for name in ["acme", "harbour"] {
        let new =
            json!({"name": name, "title": name, "issuer": true, "verifier": true, "samples": true});
        post(&operator, "/api/organisations", &new);
        round(&operator, &format!("/o/{name}"), "dc+sd-jwt", name);
    }
    let uri = ward.hsm.uri("clinic", "");
    let (code, printed, complaints) = run(&mut ward.command(&["hsm", "show", &uri, "--json"]));
    assert_eq!(code, 0, "{complaints}");
    let shown: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(shown["keys"].as_array().unwrap().len(), 2, "{shown}");
    drop(instance);

    // Without the token in the settings, what an organisation signs is refused for now, and nothing else.
    let settings = ward.settings("");
    let (instance, operator) = ward.serving(&["--config", &settings]);
    round(&operator, "", "dc+sd-jwt", "maja");
    let offer = json!({"type": "immunization", "examples": true});
    let offer = post(&operator, "/o/acme/api/issuer/offers", &offer);
    let person = person(&operator.with_token(""), "noor");
    let taken = json!({"offer": offer["uri"]});
    let reply = person
        .send("POST", "/api/wallet/offers/accept", Some(&taken))
        .unwrap();
    assert!(!reply.is_success(), "{}", reply.status);
    assert!(!world_says_why(&reply.body), "the reason is the operator's");
    assert!(instance.log().contains("an HSM did not sign"));
}

fn world_says_why(body: &[u8]) -> bool {
    String::from_utf8_lossy(body).contains("pkcs11")
}

/// Runs OpenSSL in a folder; the arguments are separated by spaces.
fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    let (code, _, complaints) = run(command.args(arguments.split(' ')).current_dir(folder));
    assert_eq!(code, 0, "{arguments}: {complaints}");
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn an_issuer_known_by_a_certificate_has_its_key_in_the_token() {
    let ward = Ward::new();
    let at = ward.folder.path();
    let authority = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=Authority -days 9 -keyout ca.key -out ca.pem";
    openssl(at, authority);
    let port = free_port();
    std::fs::write(at.join("leaf.cnf"), format!("subjectAltName=URI:http://localhost:{port}/issuer\nbasicConstraints=critical,CA:FALSE\n")).unwrap();
    for label in ["issuer", "other"] {
        let made = text(&ward.key(label, "p256"), "public");
        let spki = PublicKey::from_multikey(&made).unwrap().to_spki().unwrap();
        std::fs::write(at.join("public.der"), spki).unwrap();
        openssl(at, "pkey -pubin -inform DER -in public.der -out public.pem");
        openssl(
            at,
            &format!(
                "x509 -new -force_pubkey public.pem -subj /CN=Issuer -CA ca.pem -CAkey ca.key -days 9 -extfile leaf.cnf -out {label}.pem"
            ),
        );
    }
    let settings = |certificate: &str| {
        ward.with_token(&format!("[issuer]\npkcs11_key = \"issuer\"\nidentify_by = \"x5c\"\ncertificate = \"{certificate}.pem\"\n[trust]\ncertificates = [\"ca.pem\"]\n"))
    };
    let said = ward.refused_at(port, &["--config", &settings("other")]);
    assert!(said.contains("of another key"), "{said}");
    let (_instance, operator) = ward.serving_at(port, &["--config", &settings("issuer")]);
    round(&operator, "", "dc+sd-jwt", "maja");
}

/// Waits until something is so.
#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn a_token_that_goes_away_while_people_are_served_stops_signatures_alone_until_it_is_back() {
    let ward = Ward::new();
    ward.key("issuer", "p256");
    let settings = ward.with_token("[issuer]\npkcs11_key = \"issuer\"\n");
    let (instance, operator) = ward.serving(&["--config", &settings]);
    round(&operator, "", "dc+sd-jwt", "maja");
    let noor = person(&operator.with_token(""), "noor");
    let offer = || {
        let wanted = json!({"type": "immunization", "examples": true});
        post(&operator, "/api/issuer/offers", &wanted)
    };
    let accept = |given: &Value| {
        let body = json!({"offer": given["uri"]});
        let reply = noor.send("POST", "/api/wallet/offers/accept", Some(&body));
        reply.unwrap()
    };
    let away = ward.file("away");
    std::fs::rename(ward.hsm.tokens(), &away).unwrap();
    std::fs::create_dir(ward.hsm.tokens()).unwrap();

    let refused = accept(&offer());
    assert!(!refused.is_success(), "{refused:?}");
    assert!(
        !world_says_why(&refused.body),
        "the reason is the operator's"
    );
    assert!(instance.log().contains("an HSM did not sign"));
    // What needs no signature of the issuer goes on.
    assert_eq!(cards(&noor), 0);
    let asked = json!({"type": "immunization"});
    post(&operator, "/api/verifier/requests", &asked);
    let ready = operator.send("GET", "/readyz", None).unwrap();
    assert_eq!(ready.status, 200);
    let metrics = operator.send("GET", "/metrics", None).unwrap();
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    let failed = "selfsame_hsm_signatures_total{result=\"failed\"}";
    assert!(metrics.contains(failed), "{metrics}");

    std::fs::remove_dir(ward.hsm.tokens()).unwrap();
    std::fs::rename(&away, ward.hsm.tokens()).unwrap();
    until("the token is not used again", || {
        accept(&offer()).is_success()
    });
    // The one that came to nothing is completed by the wallet.
    until("a credential is missing", || cards(&noor) >= 2);
    round(&operator, "", "vc+jwt", "lena");
}

fn cards(person: &Api) -> usize {
    items(&get(person, "/api/wallet/credentials?limit=200")).len()
}

#[test]
#[ignore = "needs SoftHSM: cargo xtask test runs it"]
fn the_master_key_that_a_token_encrypts_is_rotated_to_another_one_that_it_encrypts() {
    let ward = Ward::new();
    ward.key("master", "aes");
    let uri = ward.hsm.uri("clinic", "master");
    let master = ["--master-key-pkcs11", &uri];
    let (instance, operator) = ward.serving(&master);
    round(&operator, "", "dc+sd-jwt", "maja");
    let (data, token) = (ward.data(), ward.file("token"));
    let rotate = |further: &[&str]| {
        let mut command = ward.command(&["master-key", "rotate", "--json"]);
        command.args(master).args(further).arg("--data").arg(&data);
        command.args(["--instance", instance.origin.as_str()]);
        run(command.arg("--token-file").arg(&token))
    };
    let wrapped = data.join("master-key.wrapped");
    let before = std::fs::read(&wrapped).unwrap();
    let key = ward.file("key");
    crate::rig::write_private(&key, &"05".repeat(32));
    let (code, _, complaints) = rotate(&["--new-master-key-file", key.to_str().unwrap()]);
    assert!(
        code == 2 && complaints.contains("makes the new one too"),
        "{complaints}"
    );
    let (code, printed, complaints) = rotate(&[]);
    assert_eq!(code, 0, "{printed}{complaints}");
    let rotated: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(rotated["file"], wrapped.to_str().unwrap());
    let former = PathBuf::from(text(&rotated, "former"));
    assert_eq!(std::fs::read(&former).unwrap(), before);
    assert_ne!(std::fs::read(&wrapped).unwrap(), before);
    assert_eq!(get(&operator, "/api/master-key")["stage"], "settled");
    round(&operator, "", "dc+sd-jwt", "noor");
    drop(instance);

    let (instance, operator) = ward.serving(&master);
    round(&operator, "", "dc+sd-jwt", "lena");
    drop(instance);
    let mut check = ward.command(&["check"]);
    check.args(master).arg("--data").arg(&data);
    let (code, said, complaints) = run(&mut check);
    assert_eq!(code, 0, "{said}{complaints}");
    std::fs::copy(&former, &wrapped).unwrap();
    let said = ward.refused(&master);
    assert!(said.contains("was replaced by another one"), "{said}");
}
