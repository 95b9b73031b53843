//! A client of a running instance's API.

use std::io::{self, Read};
use std::time::Duration;

use selfsame_catalogue::Refused;
use selfsame_crypto::SecretString;
use selfsame_driver::paging::Listing;
use selfsame_http::limits::API_BODY_MAX;
use selfsame_net::{
    Authorization, Body, Call, CallLimits, Method, Net, NetError, Request, Response, Settings,
};
use selfsame_openid::view::verifier::VerificationStatus;
use selfsame_terminal::address;
use selfsame_terminal::exit::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

/// Seconds that one long-polling request waits for news. It must be shorter than the client's time-out, or every quiet
/// period would look like an instance that does not respond.
const TURN: u64 = 10;

/// The limits of long texts: 64 MiB.
const LONG: CallLimits = CallLimits {
    max_body: 64 << 20,
    total_timeout: Duration::from_secs(120),
};

/// The resources that each organisation has.
const OF_ORGANISATIONS: [&str; 13] = [
    "/api/audit",
    "/api/book",
    "/api/export",
    "/api/issuer",
    "/api/keys",
    "/api/look",
    "/api/me",
    "/api/people",
    "/api/sign-in",
    "/api/trust",
    "/api/types",
    "/api/verifier",
    "/api/webhooks",
];

/// How long to wait for a verdict, and how long each request for it waits, in seconds.
struct VerdictWait<'a> {
    id: &'a str,
    seconds: u64,
    turn: u64,
}

/// All entries of a list.
#[derive(Serialize)]
pub struct AllItems<T> {
    /// The entries.
    pub items: Vec<T>,
}

/// A row that an instance refuses.
pub struct RefusedRow {
    /// Its place among the rows that were sent, counted from 0.
    pub index: usize,
    /// Why.
    pub why: Failure,
}

/// Calls one instance.
#[derive(Clone)]
pub struct Client {
    net: Net,
    origin: Url,
    token: Option<SecretString>,
    /// What the addresses of an organisation's issuer and verifier begin with; empty for the first one.
    organisation: String,
    /// Limits in place of the usual ones.
    limits: Option<CallLimits>,
}

impl Client {
    /// A client of the instance at `origin`; `token` is the operator's or a person's. `roots` are DER certificates that
    /// are trusted in addition to the system's.
    ///
    /// # Errors
    /// If the token would be sent unencrypted, or TLS is not available on this machine.
    pub fn new(
        origin: Url,
        token: Option<SecretString>,
        roots: Vec<Vec<u8>>,
    ) -> Result<Self, Failure> {
        address::check(&origin)?;
        let settings = Settings {
            own_origins: vec![origin.origin()],
            hosts: selfsame_net::localhost(None),
            extra_roots: roots,
            ..Settings::default()
        };
        let net = Net::new(settings).map_err(|error| Failure::environment(error.to_string()))?;
        Ok(Self {
            net,
            origin,
            token,
            organisation: String::new(),
            limits: None,
        })
    }

    /// The same client with another token.
    #[must_use]
    pub fn with_token(&self, token: SecretString) -> Self {
        Self {
            token: Some(token),
            ..self.clone()
        }
    }

    /// The same client, on behalf of another organisation of the instance.
    #[must_use]
    pub fn of_organisation(&self, name: &str) -> Self {
        Self {
            organisation: format!("/o/{name}"),
            ..self.clone()
        }
    }

    /// The same client, for texts that are longer than other responses.
    #[must_use]
    pub fn for_long_texts(&self) -> Self {
        Self {
            limits: Some(LONG),
            ..self.clone()
        }
    }

    /// `GET path`.
    ///
    /// # Errors
    /// The instance's error, or that it does not respond.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.send(Method::Get, path, Body::Empty).await
    }

    /// All entries of a list, page by page.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn all<T: DeserializeOwned>(&self, path: &str) -> Result<AllItems<T>, Failure> {
        let first = format!("{path}?limit=200");
        let (mut items, mut from) = (Vec::new(), first.clone());
        loop {
            let page: Listing<T> = self.get(&from).await?;
            items.extend(page.items);
            match page.next {
                Some(after) => from = format!("{first}&after={}", segment(&after)),
                None => return Ok(AllItems { items }),
            }
        }
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.send(Method::Post, path, json(body)?).await
    }

    /// `POST path` with bytes.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn post_bytes<T: DeserializeOwned>(
        &self,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<T, Failure> {
        let content_type = "application/octet-stream".to_owned();
        let body = Body::Bytes {
            content_type,
            bytes,
        };
        self.send(Method::Post, path, body).await
    }

    /// `POST path` with a JSON body of many rows, all of which are taken or none. The inner error is the first row that
    /// is refused.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn post_rows<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Result<T, RefusedRow>, Failure> {
        let response = self.call(Method::Post, path, json(body)?).await?;
        if response.is_success() {
            return read(path, &response.body).map(Ok);
        }
        let refused = Refused::of(response.status, &response.body);
        let row = refused.row();
        let why = Failure::from(refused);
        match row.and_then(|row| row.checked_sub(1)) {
            Some(index) => Ok(Err(RefusedRow { index, why })),
            None => Err(why),
        }
    }

    /// `PUT path` with a JSON body.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.send(Method::Put, path, json(body)?).await
    }

    /// `PATCH path` with a JSON body.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.send(Method::Patch, path, json(body)?).await
    }

    /// `DELETE path`.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failure> {
        self.send(Method::Delete, path, Body::Empty).await
    }

    /// `DELETE path` with a JSON body, whose answer has none.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn delete_with(&self, path: &str, body: &impl Serialize) -> Result<(), Failure> {
        let _: serde_json::Value = self.send(Method::Delete, path, json(body)?).await?;
        Ok(())
    }

    /// The state of a presentation request, once it is over or after this many seconds; uses long polling.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn verification(
        &self,
        id: &str,
        seconds: u64,
    ) -> Result<VerificationStatus, Failure> {
        let wait = VerdictWait {
            id,
            seconds,
            turn: TURN,
        };
        self.waited(wait, |_| {}).await
    }

    /// The same, and tells each second what is known by then.
    ///
    /// # Errors
    /// Those of [`Self::get`].
    pub async fn followed(
        &self,
        id: &str,
        seconds: u64,
        told: impl FnMut(&VerificationStatus),
    ) -> Result<VerificationStatus, Failure> {
        let wait = VerdictWait {
            id,
            seconds,
            turn: 1,
        };
        self.waited(wait, told).await
    }

    async fn waited(
        &self,
        wait: VerdictWait<'_>,
        mut told: impl FnMut(&VerificationStatus),
    ) -> Result<VerificationStatus, Failure> {
        let mut left = wait.seconds;
        loop {
            let turn = left.min(wait.turn);
            let path = format!("/api/verifier/requests/{}?wait={turn}", wait.id);
            let status: VerificationStatus = self.get(&path).await?;
            told(&status);
            left -= turn;
            if status.state.is_over() || left == 0 {
                return Ok(status);
            }
        }
    }

    /// `GET path`, whatever the status: for errors whose body is not an RFC 9457 problem.
    ///
    /// # Errors
    /// If the instance does not respond, or not with JSON.
    pub async fn get_any(&self, path: &str) -> Result<(u16, serde_json::Value), Failure> {
        let response = self.call(Method::Get, path, Body::Empty).await?;
        Ok((response.status, read(path, &response.body)?))
    }

    /// `GET path`, as text.
    ///
    /// # Errors
    /// Those of [`Self::get`], and bytes that are not UTF-8.
    pub async fn text(&self, path: &str) -> Result<String, Failure> {
        let response = self.call(Method::Get, path, Body::Empty).await?;
        if !response.is_success() {
            return Err(Refused::of(response.status, &response.body).into());
        }
        let text = String::from_utf8(response.body.to_vec());
        text.map_err(|_| Failure::environment(format!("{path}: the response is not text")))
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Body,
    ) -> Result<T, Failure> {
        let response = self.call(method, path, body).await?;
        if response.is_success() {
            read(path, &response.body)
        } else {
            Err(Refused::of(response.status, &response.body).into())
        }
    }

    async fn call(&self, method: Method, path: &str, body: Body) -> Result<Response, Failure> {
        let is_organisations = OF_ORGANISATIONS.iter().any(|resource| {
            let rest = path.strip_prefix(resource);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
        });
        let path = match is_organisations {
            true => format!("{}{path}", self.organisation),
            false => path.to_owned(),
        };
        let url = self
            .origin
            .join(&path)
            .map_err(|error| Failure::ours(format!("{path}: {error}")))?;
        let authorization = match &self.token {
            Some(token) => Authorization::Bearer(token.clone()),
            None => Authorization::None,
        };
        let call = Call {
            method,
            url: &url,
            body,
            authorization,
            request: Request {
                limits: self.limits,
                ..Request::default()
            },
        };
        self.net.call(call).await.map_err(|error| {
            Failure::environment(format!("{} does not answer: {error}", self.origin)).hint(
                match error {
                    NetError::Tls(_) => "name the certificate it shows with --tls-root, such as tls-certificate.pem in its data directory",
                    _ => "start it with `selfsame up`, or name another instance with --instance",
                },
            )
        })
    }
}

/// Escapes a text as one path segment of a URL.
pub fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn read<T: DeserializeOwned>(path: &str, body: &[u8]) -> Result<T, Failure> {
    // 204 No Content.
    let body = if body.is_empty() { b"null" } else { body };
    serde_json::from_slice(body).map_err(|error| {
        Failure::ours(format!(
            "{path}: this version does not understand the response: {error}"
        ))
    })
}

/// A JSON body. A body that is too large is refused here, since the instance would cut the connection.
fn json(body: &impl Serialize) -> Result<Body, Failure> {
    let bytes = serde_json::to_vec(body).map_err(|error| Failure::ours(error.to_string()))?;
    if bytes.len() > API_BODY_MAX {
        let what = format!(
            "the input is too large: {} bytes; an instance accepts at most {API_BODY_MAX}",
            bytes.len()
        );
        return Err(Failure::environment(what));
    }
    Ok(Body::Json(bytes))
}

/// Reads input for a body, up to the size that [`json`] sends: `/dev/zero` never ends.
///
/// # Errors
/// If it can't be read, or is larger than an instance accepts.
pub fn handed_in(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let one_more = API_BODY_MAX as u64 + 1;
    if from.take(one_more).read_to_end(&mut bytes)? > API_BODY_MAX {
        let what = format!("the input is too large: the maximum is {API_BODY_MAX} bytes");
        return Err(io::Error::other(what));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_larger_than_an_instance_takes_is_not_sent() {
        assert!(json(&"a".repeat(API_BODY_MAX - 2)).is_ok());
        let failure = json(&"a".repeat(API_BODY_MAX)).unwrap_err();
        assert!(failure.message().contains("at most"), "{failure:?}");
    }

    #[test]
    fn what_never_ends_is_read_no_further_than_an_instance_takes() {
        assert!(handed_in(io::repeat(b'a')).is_err());
        let all = handed_in(io::repeat(b'a').take(API_BODY_MAX as u64)).unwrap();
        assert_eq!(all.len(), API_BODY_MAX);
    }

    #[test]
    fn a_question_that_stays_for_news_is_answered_before_the_client_gives_up() {
        let limits = Settings::default().limits;
        let slow_network = Duration::from_secs(4);
        assert!(Duration::from_secs(TURN) + slow_network < limits.total_timeout);
    }
}
