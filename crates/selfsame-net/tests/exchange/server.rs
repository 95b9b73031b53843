//! A server on loopback that behaves well or badly, depending on the path.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};
use tokio_rustls::TlsAcceptor;
use url::Url;

type Reply = http::Response<BoxBody<Bytes, Infallible>>;

pub struct Server {
    base: Url,
    address: SocketAddr,
    root: Vec<u8>,
    connections: Arc<AtomicUsize>,
    /// Bound but not listening, so that no other process gets the port.
    _held: Option<TcpSocket>,
}

impl Server {
    pub async fn plain() -> Self {
        Self::start("127.0.0.1", None).await
    }

    pub async fn tls(name: &str) -> Self {
        let issued = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let key =
            rustls::pki_types::PrivateKeyDer::try_from(issued.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![issued.cert.der().clone()], key)
            .unwrap();
        let root = issued.cert.der().to_vec();
        Self::start(name, Some((TlsAcceptor::from(Arc::new(config)), root))).await
    }

    /// An address on which nothing listens.
    pub fn unbound() -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        let address = socket.local_addr().unwrap();
        Self {
            base: Url::parse(&format!("http://{address}/")).unwrap(),
            address,
            root: Vec::new(),
            connections: Arc::default(),
            _held: Some(socket),
        }
    }

    async fn start(host: &str, tls: Option<(TlsAcceptor, Vec<u8>)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let scheme = if tls.is_some() { "https" } else { "http" };
        let base = Url::parse(&format!("{scheme}://{host}:{}/", address.port())).unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let (acceptor, root) = match tls {
            Some((acceptor, root)) => (Some(acceptor), root),
            None => (None, Vec::new()),
        };
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(stream).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream).await;
                            }
                        }
                    }
                });
            }
        });
        Self {
            base,
            address,
            root,
            connections,
            _held: None,
        }
    }

    pub fn url(&self, path: &str) -> Url {
        self.base.join(path).unwrap()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn root(&self) -> Vec<u8> {
        self.root.clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) {
    let service = service_fn(|request| async move { Ok::<_, Infallible>(reply(request).await) });
    // An error means that the client hung up, which some tests do on purpose.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn reply(request: http::Request<Incoming>) -> Reply {
    let query = request.uri().query().unwrap_or("").to_owned();
    let count: usize = query.parse().unwrap_or(0);
    let response = http::Response::builder();
    match request.uri().path() {
        "/echo" => echo(request).await,
        "/trace" => {
            let header = |name| request.headers().get(name);
            let text = |name| header(name).map_or("-", |value| value.to_str().unwrap());
            let told = format!("{} {}", text("traceparent"), text("tracestate"));
            response.body(full(told))
        }
        "/busy" => response
            .status(503)
            .header("retry-after", "7")
            .body(full("busy")),
        "/long" => response.body(full(vec![b'x'; count])),
        "/stream" => response.body(stream(count, Duration::ZERO)),
        "/endless" => response.body(stream(usize::MAX, Duration::ZERO)),
        "/drip" => response.body(stream(usize::MAX, Duration::from_millis(5))),
        "/silent" => {
            std::future::pending::<()>().await;
            response.body(full(""))
        }
        "/slow" => {
            tokio::time::sleep(Duration::from_millis(30)).await;
            response.body(full("slow"))
        }
        "/redirect" => {
            let next = match count {
                0 | 1 => "/echo".to_owned(),
                n => format!("/redirect?{}", n - 1),
            };
            response.status(302).header("location", next).body(full(""))
        }
        "/to" => response
            .status(307)
            .header("location", query)
            .body(full("")),
        "/headers" => (0..count)
            .fold(response, |response, n| {
                response.header(format!("x-{n}"), "1")
            })
            .body(full("")),
        "/headerbytes" => response.header("x", "y".repeat(count)).body(full("")),
        "/twotypes" => response
            .header("content-type", "text/plain")
            .header("content-type", "text/html")
            .body(full("")),
        "/compressed" => response.header("content-encoding", "gzip").body(full("x")),
        // RFC 9110 §12.5.3.
        "/compressing" => match request.headers().get("accept-encoding") {
            Some(codings) if codings == "identity" => response.body(full("x")),
            _ => response.header("content-encoding", "gzip").body(full("x")),
        },
        "/cut" => response
            .header("content-length", "10")
            .body(stream(3, Duration::ZERO)),
        _ => response.status(404).body(full("")),
    }
    .unwrap()
}

async fn echo(request: http::Request<Incoming>) -> http::Result<Reply> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let header = |name| {
        head.headers
            .get(name)
            .map_or("-", |value| value.to_str().unwrap())
    };
    let text = format!(
        "{} {} accept={} type={} auth={} cookie={} body={}",
        head.method,
        head.uri,
        header("accept"),
        header("content-type"),
        header("authorization"),
        header("cookie"),
        String::from_utf8_lossy(&body),
    );
    http::Response::builder()
        .header("content-type", "text/plain")
        .header("cache-control", "public, max-age=60")
        .header("etag", "\"1\"")
        .header("set-cookie", "a=b")
        .body(full(text))
}

fn full(body: impl Into<Bytes>) -> BoxBody<Bytes, Infallible> {
    Full::new(body.into()).boxed()
}

/// `count` bytes without an announced length; with a pause, one at a time.
fn stream(count: usize, pause: Duration) -> BoxBody<Bytes, Infallible> {
    let size = if pause.is_zero() { 100 } else { 1 };
    let frames = futures_util::stream::unfold(count, move |left| async move {
        if left == 0 {
            return None;
        }
        tokio::time::sleep(pause).await;
        let bytes = Bytes::from(vec![b'x'; left.min(size)]);
        let left = left - bytes.len();
        Some((Ok(Frame::data(bytes)), left))
    });
    BodyExt::boxed(StreamBody::new(Box::pin(frames)))
}
