//! As a service: settings for everything, what systemd is told and passes on, a listener for operators, and a check of the
//! settings before a start.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use url::Url;

use crate::http::Api;
use crate::instance::free_port;
use crate::rig::{selfsame, write_private};
use crate::starting::Up;

/// The longest wait for a message to systemd, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with settings, and a socket in the place of systemd's.
struct Service {
    folder: TempDir,
    manager: UnixDatagram,
    socket: String,
    public: u16,
    admin: u16,
}

impl Service {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (public, admin) = (free_port(), free_port());
        let socket = format!("selfsame-service-{public}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&socket).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        manager.set_read_timeout(Some(PATIENCE)).unwrap();
        let credentials = folder.path().join("credentials");
        std::fs::create_dir(&credentials).unwrap();
        write_private(&credentials.join("master-key"), &"7".repeat(64));
        let settings = format!(
            "[instance]\ndata = \"data\"\nlisten = \"127.0.0.1:{public}\"\nroles = [\"issuer\", \"wallet\"]\n\
             operator_token_file = \"token\"\n[admin]\nlisten = \"127.0.0.1:{admin}\"\n"
        );
        std::fs::write(folder.path().join("selfsame.toml"), settings).unwrap();
        Self {
            folder,
            manager,
            socket,
            public,
            admin,
        }
    }

    fn settings(&self) -> PathBuf {
        self.folder.path().join("selfsame.toml")
    }

    fn up(&self) -> Up {
        let mut command = selfsame();
        command
            .args(["up", "--config"])
            .arg(self.settings())
            .env("NOTIFY_SOCKET", format!("@{}", self.socket))
            .env("WATCHDOG_USEC", "1000000")
            .env(
                "CREDENTIALS_DIRECTORY",
                self.folder.path().join("credentials"),
            )
            .stdout(Stdio::null());
        Up(command.spawn().unwrap())
    }

    /// Waits for this message among those to the watchdog; returns the whole message.
    fn hears(&self, wanted: &str) -> String {
        loop {
            let mut bytes = [0; 256];
            let length = self.manager.recv(&mut bytes).unwrap();
            let heard = String::from_utf8(bytes[..length].to_vec()).unwrap();
            if heard.contains(wanted) {
                return heard;
            }
            assert_eq!(heard, "WATCHDOG=1\n", "instead of {wanted}");
        }
    }

    fn api(&self, port: u16) -> Api {
        let token = std::fs::read_to_string(self.folder.path().join("token")).unwrap();
        let origin = Url::parse(&format!("http://localhost:{port}/")).unwrap();
        Api::new(&origin, token.trim())
    }
}

fn signal(up: &Up, name: &str) {
    let status = Command::new("kill")
        .args([name, &up.0.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_service_tells_systemd_its_states_and_serves_operators_at_their_own_listener() {
    let service = Service::new();
    let mut up = service.up();
    service.hears("READY=1");
    service.hears("WATCHDOG=1");
    // The master key came from the credential: there is none beside the data.
    let data = service.folder.path().join("data");
    assert!(data.join("store.sqlite").exists() && !data.join("master-key").exists());
    assert!(!data.join("operator-token").exists());
    let status = |port, path: &str| service.api(port).send("GET", path, None).unwrap();
    for path in [
        "/operator",
        "/api/status",
        "/api/issuer/credentials",
        "/metrics",
    ] {
        assert_eq!(status(service.public, path).status, 404, "{path}");
        assert_ne!(status(service.admin, path).status, 404, "{path}");
    }
    assert_eq!(status(service.public, "/readyz").status, 200);
    assert_eq!(status(service.public, "/wallet/sign-in").status, 200);
    // Not one of its roles.
    assert_eq!(status(service.admin, "/api/verifier/requests").status, 404);
    let link = service.api(service.admin);
    let link = link
        .send("POST", "/api/operator/links", None)
        .unwrap()
        .json();
    let leads = format!("http://localhost:{}/operator/sign-in", service.admin);
    assert!(link["url"].as_str().unwrap().starts_with(&leads), "{link}");
    signal(&up, "-HUP");
    let reloading = service.hears("RELOADING=1");
    assert!(reloading.contains("MONOTONIC_USEC="), "{reloading}");
    service.hears("READY=1");
    signal(&up, "-TERM");
    service.hears("STOPPING=1");
    assert!(up.0.wait().unwrap().success());
}

/// What `config check` says of these settings, and its exit code.
fn checked(text: &str) -> (Value, i32) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("selfsame.toml");
    std::fs::write(&file, text).unwrap();
    let mut command = selfsame();
    let output = command
        .args(["config", "check", "--json"])
        .arg(&file)
        .output()
        .unwrap();
    let said = serde_json::from_slice(&output.stdout);
    let said = said.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (said, output.status.code().unwrap())
}

#[test]
fn a_check_of_settings_names_every_wrong_line_and_what_to_do() {
    let (said, code) =
        checked("[trust]\nisuers = []\n[limits]\nstreams = \"many\"\n[instance]\nlisten = 7380\n");
    assert_eq!(code, 1);
    let wrong = said["wrong"].as_array().unwrap();
    let lines: Vec<_> = wrong
        .iter()
        .map(|one| one["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 4, 6], "{said}");
    assert_eq!(wrong[0]["remedy"], "write `issuers`, or remove the line");
    // What the types can't express is found too, all of it at once.
    let (said, code) =
        checked("[limits]\nstreams = 0\n[issuer]\nformats = []\n[instance]\ntls_key = \"a.pem\"\n");
    assert_eq!(
        (code, said["wrong"].as_array().unwrap().len()),
        (1, 3),
        "{said}"
    );
}

#[test]
fn a_check_of_right_settings_says_when_each_takes_effect() {
    let (said, code) = checked(
        "[instance]\nlisten = \"127.0.0.1:1\"\n[trust]\nissuers = [\"did:web:a.example\"]\n",
    );
    assert_eq!(
        (code, &said["wrong"]),
        (0, &Value::Array(Vec::new())),
        "{said}"
    );
    assert_eq!(said["settings"][0]["takes_effect"], "restart");
    assert_eq!(said["settings"][1]["takes_effect"], "reload");
    let output = selfsame()
        .args(["config", "check", "/nowhere.toml"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_settings_that_are_packaged_are_right() {
    for file in ["debian/selfsame.toml", "container/selfsame.toml"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../deploy")
            .join(file);
        let output = selfsame()
            .args(["config", "check"])
            .arg(&file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}
