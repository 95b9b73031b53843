//! A fake server on loopback for an external service. Its answers, and their delays, are set by the caller.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// The largest request that it reads, in bytes.
const MAX_REQUEST: usize = 1 << 20;

/// A received request.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The method.
    pub method: Method,
    /// The path as it was sent.
    pub path: String,
    /// The query string, without `?`.
    pub query: Option<String>,
    /// The `Accept` header.
    pub accept: Option<String>,
    /// The body.
    pub body: Bytes,
}

/// An answer to send.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The status; 0 closes the connection without an answer.
    pub status: u16,
    /// The `Content-Type` header.
    pub content_type: &'static str,
    /// The `Location` header.
    pub location: Option<String>,
    /// The `Retry-After` header, in seconds.
    pub retry_after: Option<u64>,
    /// The body.
    pub body: Vec<u8>,
    /// The delay before the answer.
    pub after: Duration,
}

/// A running fake server; dropping it stops it.
pub struct FakeServer {
    address: String,
    running: AbortHandle,
}

impl FakeServer {
    /// Starts the server on a free port of loopback.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start(
        answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}/", listener.local_addr()?);
        let running = tokio::spawn(serve(listener, Arc::new(answer))).abort_handle();
        Ok(Self { address, running })
    }

    /// Its base URL.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.running.abort();
    }
}

type Answers = dyn Fn(&ReceivedRequest) -> Reply + Send + Sync;

async fn serve(listener: TcpListener, answer: Arc<Answers>) {
    while let Ok((stream, _)) = listener.accept().await {
        let answer = answer.clone();
        let service = service_fn(move |request| exchange(request, answer.clone()));
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

async fn exchange(
    request: Request<Incoming>,
    answer: Arc<Answers>,
) -> Result<Response<Full<Bytes>>, Broken> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, MAX_REQUEST).collect().await;
    let accept = head.headers.get(header::ACCEPT);
    let asked = ReceivedRequest {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        accept: accept.and_then(|accept| accept.to_str().ok().map(str::to_owned)),
        body: body.map_err(|_| Broken)?.to_bytes(),
    };
    let reply = answer(&asked);
    tokio::time::sleep(reply.after).await;
    if reply.status == 0 {
        return Err(Broken);
    }
    let mut response = Response::builder()
        .status(reply.status)
        .header(header::CONTENT_TYPE, reply.content_type);
    if let Some(location) = reply.location {
        response = response.header(header::LOCATION, location);
    }
    if let Some(seconds) = reply.retry_after {
        response = response.header(header::RETRY_AFTER, seconds);
    }
    response
        .body(Full::new(Bytes::from(reply.body)))
        .map_err(|_| Broken)
}

/// Closes a connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the connection is broken on purpose")]
struct Broken;
