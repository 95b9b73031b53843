//! A provider for the tests, which answers eSignet's calls as if all were well, and keeps what it is sent.

use std::sync::{Arc, Mutex};

use selfsame_bench::fake_server::{FakeServer, ReceivedRequest, Reply};
use selfsame_crypto::encoding::base64url_encode;
use serde_json::{Value, json};

/// A fake provider, with the identity system of the same origin.
pub struct FakeProvider {
    server: FakeServer,
    received: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl FakeProvider {
    /// Starts one that answers the call of this name with an error; with an empty name, none.
    pub async fn start(broken: &'static str) -> Self {
        let received: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let kept = received.clone();
        let server = FakeServer::start(move |request| {
            kept.lock().unwrap().push(request.clone());
            answer(request, broken)
        });
        Self {
            server: server.await.unwrap(),
            received,
        }
    }

    /// Its origin.
    pub fn origin(&self) -> &str {
        self.server.address().trim_end_matches('/')
    }

    /// The bodies that this call was sent, in their order.
    pub fn bodies(&self, call: &str) -> Vec<String> {
        let received = self.received.lock().unwrap();
        let of_call = received.iter().filter(|one| one.path.ends_with(call));
        of_call
            .map(|one| String::from_utf8_lossy(&one.body).into_owned())
            .collect()
    }
}

fn answer(request: &ReceivedRequest, broken: &str) -> Reply {
    let call = request.path.rsplit('/').next().unwrap_or_default();
    let enveloped = |response: Value| match call == broken {
        true => json!({"response": null, "errors": [{"errorCode": "broken"}]}),
        false => json!({"response": response, "errors": []}),
    };
    let body = match call {
        "oauth-authorization-server" => {
            json!({"token_endpoint": "https://op.example/v1/esignet/oauth/v2/token"})
        }
        "token" if request.path.ends_with("csrf/token") => json!({"token": "c5f"}),
        "token" => json!({"id_token": "a.b.c", "access_token": "d.e.f"}),
        "userinfo" => {
            let claims = json!({"name": "Person Number 0"}).to_string();
            let token = format!("e30.{}.c2ln", base64url_encode(claims.as_bytes()));
            return reply(token.into_bytes());
        }
        "oauth-details" => enveloped(json!({"transactionId": "t1", "configs": {"a": null}})),
        "auth-code" => enveloped(json!({"code": "c1"})),
        _ => enveloped(json!({"status": "done"})),
    };
    reply(body.to_string().into_bytes())
}

fn reply(body: Vec<u8>) -> Reply {
    Reply {
        status: 200,
        content_type: "application/json",
        body,
        ..Reply::default()
    }
}
