//! An instance whose people the mock identity system knows, and the relying parties that are registered there.

use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use selfsame_crypto::time::UnixTime;
use serde_json::json;
use tempfile::TempDir;
use url::Url;

use crate::browser::PersonsBrowser;
use crate::http::{Reply, Request};
use crate::instance::{Instance, free_port};

/// How long a relying party may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The person who signs in.
pub const PERSON: &str = "9876543210";
/// The person's one-time password.
pub const SECRET: &str = "111111";
/// What the relying parties learn of the person.
pub const MAIL: &str = "maja@example.org";

/// A running instance.
pub struct Provider {
    instance: Instance,
    _folder: TempDir,
}

/// A registered relying party that is to be started at a port of this machine.
pub struct RegisteredParty {
    /// Where it will be.
    pub origin: Url,
    /// Its port.
    pub port: u16,
    /// The provider's identifier.
    pub issuer: String,
    /// Its identifier.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
}

/// A relying party's process; dropping it stops it.
pub struct RunningParty {
    child: Child,
    origin: Url,
}

impl Provider {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("settings.toml");
        std::fs::write(&settings, "[sign_in]\npeople = \"mock\"\n").unwrap();
        let data = folder.path().join("data");
        let with = ["--config", settings.to_str().unwrap()];
        let mut instance = Instance::start(&data, free_port(), &with);
        instance.ready();
        let one = |text: &str| json!([{"language": "eng", "value": text}]);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let now = UnixTime(now.as_secs()).rfc3339().replace('Z', ".000Z");
        let person = json!({"requestTime": now, "request": {
            "individualId": PERSON, "pin": SECRET, "fullName": one("Maja Lind"), "email": MAIL,
            "phone": "+212600000000"}});
        let identity = instance.origin.join("v1/mock-identity-system/identity");
        let added = Request::new("POST", &identity.unwrap()).json(&person);
        let added = added.send().unwrap();
        assert_eq!(added.json()["errors"], json!([]), "{added:?}");
        Self {
            instance,
            _folder: folder,
        }
    }

    /// Registers a relying party by the strict preset; responses go to this path of it.
    pub fn register(&self, name: &str, callback: &str) -> RegisteredParty {
        let port = free_port();
        let origin: Url = format!("http://localhost:{port}/").parse().unwrap();
        let client =
            json!({"client_name": name, "redirect_uris": [origin.join(callback).unwrap()]});
        let request = self.instance.operator();
        let request = request
            .request("POST", "/api/sign-in/clients")
            .json(&client);
        let made = request.send().unwrap();
        assert_eq!(made.status, 201, "{made:?}");
        let made = made.json();
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        RegisteredParty {
            issuer: self.instance.origin.join("oidc").unwrap().into(),
            client_id: text("client_id"),
            client_secret: text("client_secret"),
            origin,
            port,
        }
    }
}

impl RegisteredParty {
    /// Starts it; it is told who it is and where the provider is.
    pub fn start(self, command: &mut Command) -> RunningParty {
        command
            .env("ISSUER", &self.issuer)
            .env("CLIENT_ID", &self.client_id)
            .env("CLIENT_SECRET", &self.client_secret)
            .env("ORIGIN", self.origin.as_str().trim_end_matches('/'))
            .env("PORT", self.port.to_string());
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            assert!(began.elapsed() < PATIENCE, "it does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        RunningParty {
            child,
            origin: self.origin,
        }
    }
}

impl RunningParty {
    /// A person opens this path of it, signs in, and sees this page.
    pub fn signs_in(&self, path: &str) -> Reply {
        let mut browser = PersonsBrowser::default();
        browser.open(&self.origin.join(path).unwrap())
    }
}

impl Drop for RunningParty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
