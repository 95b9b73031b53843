//! The load generator's HTTP client, with keep-alive, a time-out and a count of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;

use crate::Error;
use crate::manners::LoadManners;

/// A call that takes longer than this counts as failed, as in the study's clients.
const PATIENCE: Duration = Duration::from_secs(30);

/// The maximum number of times that a transaction is sent, and the pause before it is sent again.
const WRITES: usize = 10;
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// A connection that was idle for this long is not reused: the server closes it after half a minute, and this client
/// does not notice that while it generates keys.
const IDLE: Duration = Duration::from_secs(20);

/// An HTTP client of one server with kept-alive connections.
#[derive(Clone)]
pub struct BenchClient {
    pool: Pool<HttpConnector, Full<Bytes>>,
    base: Arc<str>,
    host: Arc<str>,
    requests: Arc<AtomicU64>,
    manners: LoadManners,
}

impl BenchClient {
    /// Creates a client of the server at `base`, such as `http://127.0.0.1:7380`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(connector);
        Self {
            pool,
            base: base.into(),
            // Connections go to the IP address; the server answers to its host name.
            host: base
                .trim_start_matches("http://")
                .replace("127.0.0.1", "localhost")
                .into(),
            requests: Arc::default(),
            manners: LoadManners::default(),
        }
    }

    /// The same client with these manners.
    #[must_use]
    pub fn with(self, manners: &LoadManners) -> Self {
        Self {
            manners: manners.clone(),
            ..self
        }
    }

    /// The number of requests sent so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether the server reports that it is ready.
    pub async fn is_ready(&self) -> bool {
        let Ok(uri) = format!("{}/readyz", self.base).parse() else {
            return false;
        };
        let response = self.pool.get(uri).await;
        response.is_ok_and(|response| response.status().is_success())
    }

    /// Sends `GET path`.
    ///
    /// # Errors
    /// Any answer except a success, or no answer within 30 s.
    pub async fn get(&self, path: &str, token: &str) -> Result<Value, Error> {
        self.send(Method::GET, path, token, None).await
    }

    /// Sends `POST path`.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn post(&self, path: &str, token: &str, body: &Value) -> Result<Value, Error> {
        self.send(Method::POST, path, token, Some(body)).await
    }

    /// Sends `PUT path`.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn put(&self, path: &str, token: &str, body: &Value) -> Result<Value, Error> {
        self.send(Method::PUT, path, token, Some(body)).await
    }

    /// Sends bytes as `POST path`.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn post_bytes(&self, path: &str, token: &str, body: &[u8]) -> Result<Value, Error> {
        let body = Some(("application/octet-stream", Bytes::copy_from_slice(body)));
        read(path, &self.exchange(Method::POST, path, token, body).await?)
    }

    /// Sends a transaction as `POST path`. While the registry says that it can't tell whether it wrote the transaction,
    /// sends it again, as an author does; the time of that counts.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn write(&self, path: &str, token: &str, body: Vec<u8>) -> Result<Value, Error> {
        let body = Bytes::from(body);
        let mut again = WRITES;
        loop {
            again -= 1;
            let sent = Some(("application/cbor", body.clone()));
            let (status, answer) = self.answer(Method::POST, path, token, sent).await?;
            if status != StatusCode::SERVICE_UNAVAILABLE || again == 0 {
                return read(path, &success(&Method::POST, path, status, answer)?);
            }
            tokio::time::sleep(WRITE_AGAIN).await;
        }
    }

    /// Sends `GET path` and returns the body's bytes.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn get_bytes(&self, path: &str) -> Result<Bytes, Error> {
        self.get_bytes_as(path, "").await
    }

    /// Sends `GET path` with a token and returns the body's bytes.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub async fn get_bytes_as(&self, path: &str, token: &str) -> Result<Bytes, Error> {
        self.exchange(Method::GET, path, token, None).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<&Value>,
    ) -> Result<Value, Error> {
        let body = body.map(|body| ("application/json", Bytes::from(body.to_string())));
        read(path, &self.exchange(method, path, token, body).await?)
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<(&'static str, Bytes)>,
    ) -> Result<Bytes, Error> {
        let mut sent_before = 0;
        loop {
            let place = self.manners.place().await;
            let answer = self.answer(method.clone(), path, token, body.clone());
            let (status, answer) = answer.await?;
            drop(place);
            let Some(pause) = self.manners.pause(status, sent_before) else {
                return success(&method, path, status, answer);
            };
            tokio::time::sleep(pause).await;
            sent_before += 1;
        }
    }

    async fn answer(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<(&'static str, Bytes)>,
    ) -> Result<(StatusCode, Bytes), Error> {
        let mut request = Request::builder().method(&method).uri(path);
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = match body {
            Some((kind, body)) => {
                request = request.header(header::CONTENT_TYPE, kind);
                body
            }
            None => Bytes::new(),
        };
        let request = request
            .body(body)
            .map_err(|error| failed(&method, path, error.to_string()))?;
        let answer = self.call(request).await?;
        Ok((answer.status(), answer.into_body()))
    }

    /// Sends a request with headers of its own, whose address is a path, and returns the answer whatever its status.
    ///
    /// # Errors
    /// No answer within 30 s.
    pub async fn call(&self, request: Request<Bytes>) -> Result<Response<Bytes>, Error> {
        let (mut head, body) = request.into_parts();
        let (method, path) = (head.method.clone(), head.uri.to_string());
        let failed = |why: String| failed(&method, &path, why);
        let malformed = |error: &dyn std::error::Error| failed(error.to_string());
        let uri = format!("{}{path}", self.base).parse();
        head.uri = uri.map_err(|error: http::uri::InvalidUri| malformed(&error))?;
        let host = HeaderValue::from_str(&self.host).map_err(|error| malformed(&error))?;
        head.headers.insert(header::HOST, host);
        self.requests.fetch_add(1, Ordering::Relaxed);
        let answer = async {
            let request = Request::from_parts(head, Full::new(body));
            let response = self.pool.request(request).await;
            let (head, body) = response
                .map_err(|error| failed(causes(&error)))?
                .into_parts();
            let body = body.collect().await.map_err(|error| malformed(&error))?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        tokio::time::timeout(PATIENCE, answer)
            .await
            .map_err(|_| failed("no answer within 30 s".to_owned()))?
    }
}

fn failed(method: &Method, path: &str, why: String) -> Error {
    Error::Call {
        what: format!("{method} {path}"),
        why,
    }
}

fn success(method: &Method, path: &str, status: StatusCode, body: Bytes) -> Result<Bytes, Error> {
    match status.is_success() {
        true => Ok(body),
        false => {
            let said = String::from_utf8_lossy(&body);
            Err(failed(method, path, format!("{status} {said}")))
        }
    }
}

fn read(path: &str, body: &[u8]) -> Result<Value, Error> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| Error::Call {
        what: path.to_owned(),
        why: error.to_string(),
    })
}

/// An error's message with all its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
