//! The two measured flows, as a controller drives them: issuance and verification.

use std::ops::Range;

use serde_json::{Value, json};

use crate::client::BenchClient;
use crate::{Error, Progress, tasks};

/// The study's credentials are W3C credentials in JWTs.
pub const STUDY_FORMAT: &str = "jwt_vc_json";
/// The password of all people.
pub const PASSWORD: &str = "correct horse battery staple";
/// The sample type that is issued unless an organisation has one of its own.
pub const SAMPLE: &str = "immunization";

/// Who issues and asks: an operator's token, and the organisation it acts for.
#[derive(Clone, Copy)]
pub struct Operator<'a> {
    /// The token.
    pub token: &'a str,
    /// What the organisation's addresses begin with: empty for the one that every instance has.
    pub below: &'a str,
    /// The credential type.
    pub kind: &'a str,
}

impl<'a> Operator<'a> {
    /// The operator of the organisation that every instance has.
    #[must_use]
    pub fn main(token: &'a str) -> Self {
        Self {
            token,
            below: "",
            kind: SAMPLE,
        }
    }

    fn path(&self, path: &str) -> String {
        format!("{}{path}", self.below)
    }
}

/// Registers person `number` and returns the session's token.
///
/// # Errors
/// If the server refuses, or answers otherwise than it should.
pub async fn register(client: &BenchClient, number: usize) -> Result<String, Error> {
    let body = json!({"email": format!("person{number}@example.org"), "password": PASSWORD});
    let session = client.post("/api/wallet/register", "", &body).await?;
    text(&session, "token")
}

/// Registers the people of these numbers, four at a time, since each costs an Argon2id hash. Returns their sessions.
///
/// # Errors
/// As [`register`].
pub async fn register_all(
    client: &BenchClient,
    numbers: Range<usize>,
    progress: &dyn Progress,
) -> Result<Vec<String>, Error> {
    progress.begin("registering people", numbers.len() as u64);
    let registering = numbers.map(|number| {
        let client = client.clone();
        async move { register(&client, number).await }
    });
    tasks::all(registering, 4, progress).await
}

/// Makes and accepts an offer, with the requests of the issuer's operator and of the wallet's person.
///
/// # Errors
/// As [`register`].
pub async fn issue(
    client: &BenchClient,
    operator: Operator<'_>,
    person: &str,
    format: &str,
) -> Result<(), Error> {
    let offer = json!({"type": operator.kind, "format": format, "examples": true});
    let offer = client
        .post(&operator.path("/api/issuer/offers"), operator.token, &offer)
        .await?;
    let taking = json!({"offer": text(&offer, "uri")?});
    let taken = client
        .post("/api/wallet/offers/accept", person, &taking)
        .await?;
    match taken["items"].as_array().map(Vec::len) {
        Some(1..) => Ok(()),
        _ => Err(unexpected("POST /api/wallet/offers/accept", &taken)),
    }
}

/// Makes and answers a request, and checks that the verdict is valid.
///
/// # Errors
/// As [`register`], or if the verdict is another one.
pub async fn verify(
    client: &BenchClient,
    operator: Operator<'_>,
    person: &str,
    format: &str,
) -> Result<(), Error> {
    let request = json!({"type": operator.kind, "format": format});
    let requests = operator.path("/api/verifier/requests");
    let request = client.post(&requests, operator.token, &request).await?;
    let answer = json!({"request": text(&request, "uri")?, "policy": "newest"});
    client
        .post("/api/wallet/requests/answer", person, &answer)
        .await?;
    let path = format!("{requests}/{}?wait=30", text(&request, "id")?);
    let status = client.get(&path, operator.token).await?;
    if status["verdict"]["outcome"] == "valid" {
        Ok(())
    } else {
        Err(unexpected(&path, &status))
    }
}

pub(crate) fn text(value: &Value, name: &str) -> Result<String, Error> {
    value[name]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| unexpected(name, value))
}

fn unexpected(what: &str, got: &Value) -> Error {
    Error::Call {
        what: what.to_owned(),
        why: format!("unexpected answer {got}"),
    }
}
