//! The processes, one by one: each is called at its own port, by the name that all of them have.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use crate::http::{Reply, Request};
use crate::instance::Instance;
use crate::replicas_rig::Replicas;

/// How long an answer is waited for that a fault delays.
const PATIENCE: Duration = Duration::from_secs(60);
/// The settings of all processes.
pub const SETTINGS: &str = "[sign_in]\npeople = \"mock\"\nesignet = true\n";
/// The person who signs in.
pub const PERSON: &str = "9876543210";
/// The person's one-time password, PIN and password.
pub const SECRET: &str = "111111";

/// One process.
#[derive(Clone)]
pub struct CalledReplica {
    at: Url,
    /// The origin of all processes.
    pub origin: Url,
}

impl CalledReplica {
    /// One of several.
    pub fn of(replicas: &Replicas, number: usize) -> Self {
        Self {
            at: replicas.replicas[number].origin.clone(),
            origin: replicas.origin.clone(),
        }
    }

    /// The only one.
    pub fn alone(instance: &Instance) -> Self {
        Self {
            at: instance.origin.clone(),
            origin: instance.origin.clone(),
        }
    }

    /// A request to a path.
    pub fn request(&self, method: &'static str, path: &str) -> Request {
        let host = &self.origin[url::Position::BeforeHost..url::Position::AfterPort];
        Request::new(method, &self.at.join(path).unwrap()).under(host)
    }

    /// Waits until the process reaches its database.
    pub fn is_ready(&self) {
        until_answered(&self.request("GET", "/readyz"));
    }
}

/// The answer to a request, which is sent again while nobody answers it or the database is away.
#[track_caller]
pub fn until_answered(request: &Request) -> Reply {
    let began = Instant::now();
    loop {
        let reply = request.send();
        match reply {
            Ok(reply) if !is_away(&reply) => return reply,
            other => assert!(began.elapsed() < PATIENCE, "{other:?}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Whether an answer says that this instance can't answer now: by its status, or by eSignet's code.
fn is_away(reply: &Reply) -> bool {
    let code = &reply.json()["errors"][0]["errorCode"];
    reply.status >= 500 || *code == "unknown_error" || *code == "send_otp_failed"
}

/// Adds the person to the mock identity system.
pub fn add_person(at: &CalledReplica) {
    let one = |text: &str| json!([{"language": "eng", "value": text}]);
    let person = json!({
        "individualId": PERSON, "pin": SECRET, "password": SECRET, "fullName": one("Maja Lind"),
        "email": "maja@example.org", "phone": "+212600000000", "gender": one("Female"),
    });
    let path = "/v1/mock-identity-system/identity";
    let added = at.request("POST", path).json(&enveloped(&person));
    let added = added.send().unwrap();
    assert_eq!(added.json()["errors"], json!([]), "{added:?}");
}

/// A request in eSignet's envelope, as of now.
pub fn enveloped(request: &Value) -> Value {
    let time = crate::party::now().rfc3339();
    let time = format!("{}.000Z", time.trim_end_matches('Z'));
    json!({"requestTime": time, "request": request})
}
