//! The admin API of an agent, ours or another one's: both have the addresses and members of ACA-Py.

use std::time::{Duration, Instant};

use serde_json::Value;
use url::Url;

use crate::http::{Reply, Request};

/// How long a record may take to come to a state on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// The admin API of an agent.
pub struct AdminApi {
    base: Url,
    /// The name of the agent, for complaints.
    name: String,
}

impl AdminApi {
    /// The API at this port of this machine.
    pub fn at(name: &str, port: u16) -> Self {
        Self {
            base: format!("http://127.0.0.1:{port}/").parse().unwrap(),
            name: name.to_owned(),
        }
    }

    /// Where it is, without a slash at its end.
    pub fn base(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The answer to a request, whatever it is.
    pub fn send(&self, method: &'static str, path: &str, body: &Value) -> std::io::Result<Reply> {
        let url = self.base.join(path).unwrap();
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = Request::new(method, &url).body("application/json", body);
        request.send()
    }

    #[track_caller]
    fn call(&self, method: &'static str, path: &str, body: &Value) -> Value {
        let reply = self.send(method, path, body).unwrap();
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(reply.status, 200, "{}: {method} {path}: {text}", self.name);
        serde_json::from_str(&text).unwrap()
    }

    /// The JSON of a GET that must succeed.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        self.call("GET", path, &Value::Null)
    }

    /// The JSON of a POST that must succeed; without a body if it is `null`.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", path, body)
    }

    /// What a GET gives, once it succeeds and fits.
    #[track_caller]
    pub fn until(&self, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let reply = self.send("GET", path, &Value::Null);
            let text = match &reply {
                Ok(reply) => String::from_utf8_lossy(&reply.body).into_owned(),
                Err(error) => error.to_string(),
            };
            if reply.is_ok_and(|reply| reply.status == 200)
                && let Ok(found) = serde_json::from_str(&text)
                && fits(&found)
            {
                return found;
            }
            assert!(began.elapsed() < PATIENCE, "{}: {path}: {text}", self.name);
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// The first result of a list that fits, once there is one.
    #[track_caller]
    pub fn awaited(&self, path: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let results = |listed: &Value| listed["results"].as_array().cloned().unwrap_or_default();
        let listed = self.until(path, |listed| results(listed).iter().any(&fits));
        results(&listed).into_iter().find(|one| fits(one)).unwrap()
    }

    /// The public DID.
    #[track_caller]
    pub fn public_did(&self) -> String {
        text(&self.get("/wallet/did/public")["result"]["did"])
    }
}

/// A text of an answer.
#[track_caller]
pub fn text(value: &Value) -> String {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("no text: {value}"))
        .to_owned()
}

/// An identifier as a part of a path.
pub fn in_path(id: &str) -> String {
    id.replace('%', "%25")
        .replace('/', "%2F")
        .replace(':', "%3A")
}
