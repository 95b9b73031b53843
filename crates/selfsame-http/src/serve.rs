//! The accept loop: a limited number of connections, time-outs, TLS, a stop that lets open requests end.

mod activity;
pub mod further;
pub mod health;
pub mod nodes;
pub mod plain;
mod threads;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use http::header::{CONNECTION, RETRY_AFTER};
use http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use crate::limits::ConnectionLimits;
use crate::origin::Origin;
use crate::peer::Peer;
use crate::pulse::Pulse;
use crate::shares::{Share, Shares};
use crate::supervision;
use crate::tls::Tls;
use crate::tls::challenge::PROTOCOL;
use activity::Activity;
use nodes::{AdmittedNode, NodeGate, NodePeer};
use threads::{Seat, Threads};

/// Sent to a connection that exceeds the limit.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Connections beyond the limit, for the process's supervisor; each is short.
const SPARE: usize = 16;
const SPARE_TIME: Duration = Duration::from_secs(3);

/// What the accept loop serves, and its settings.
#[derive(Clone)]
pub struct HttpService {
    /// Answers the requests.
    pub router: Router,
    /// The handshake of a connection.
    pub door: Door,
    /// Limits of connections and times.
    pub limits: ConnectionLimits,
    /// Each network's share of the connections.
    pub shares: Shares,
    /// Each network's share of the requests under way: an HTTP/2 or a proxy's connection carries many.
    pub requests: Shares,
    /// Detects event loops that have stopped turning.
    pub pulse: Pulse,
    /// Set to `true` when the server stops, so that endless streams end.
    pub stopping: watch::Sender<bool>,
}

impl HttpService {
    /// Whether the peer is a proxy that names its clients.
    fn is_proxy(&self, peer: Peer) -> bool {
        match self.door {
            Door::Proxied => true,
            Door::Plain | Door::Tls(_) => peer.is_among(&self.limits.proxies),
            Door::Nodes(_) => false,
        }
    }

    /// The share for one more connection. A proxy's connection serves many clients, each counted separately.
    fn share(&self, peer: Peer) -> Option<Share> {
        let network = peer.bounded().filter(|_| !self.is_proxy(peer));
        self.shares.one(network, self.limits.each)
    }

    fn caller(&self, peer: Peer, spare: bool) -> Caller {
        Caller {
            spare,
            peer,
            node: None,
            proxied: self.is_proxy(peer),
        }
    }
}

/// Serves until `stop` is done; then lets open requests end within the deadline.
///
/// # Errors
/// If the threads can't be started.
pub async fn serve(
    listener: TcpListener,
    service: HttpService,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_all(vec![Listening { listener, service }], stop).await
}

/// A listener with what it serves.
pub struct Listening {
    /// The listener.
    pub listener: TcpListener,
    /// What it serves.
    pub service: HttpService,
}

/// Like [`serve`], for several listeners that share the threads.
///
/// # Errors
/// If the threads can't be started.
pub async fn serve_all(all: Vec<Listening>, stop: impl Future<Output = ()>) -> io::Result<()> {
    let Some(first) = all.first() else {
        return Ok(());
    };
    let threads = Threads::start(&first.service.pulse)?;
    let stop = stop.shared();
    let serving = all
        .into_iter()
        .map(|one| accept(one, &threads, stop.clone()));
    try_join_all(serving).await?;
    Ok(())
}

async fn accept(
    Listening { listener, service }: Listening,
    threads: &Threads,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let room = ConnectionRoom::of(&service.limits);
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok((stream, peer)) => (stream, Peer::from(peer)),
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        let (Some(share), Some(place)) = (service.share(peer), room.place()) else {
            refuse(
                &stream,
                !matches!(service.door, Door::Plain | Door::Proxied),
            );
            continue;
        };
        let service = service.clone();
        let watcher = graceful.watcher();
        // Move the stream from this thread's event loop to that of the thread that serves it.
        let Ok(stream) = stream.into_std() else {
            continue;
        };
        let (thread, seat) = threads.seat();
        thread.spawn(async move {
            let Ok(stream) = TcpStream::from_std(stream) else {
                return;
            };
            connection(
                Connection {
                    stream,
                    peer,
                    place,
                    _share: share,
                    _seat: seat,
                    watcher,
                },
                service,
            )
            .await;
        });
    }
    drop(listener);
    service.stopping.send_replace(true);
    if tokio::time::timeout(service.limits.stop, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("requests were cut off because the time to stop ran out");
    }
    Ok(())
}

/// What happens on a connection before its first request.
#[derive(Clone)]
pub enum Door {
    /// Nothing.
    Plain,
    /// Nothing: a proxy on this machine ends TLS.
    Proxied,
    /// TLS with our certificate.
    Tls(TlsAcceptor),
    /// TLS in which both sides prove who they are by DIDs and credentials.
    Nodes(Arc<dyn NodeGate>),
}

impl Door {
    /// The door of a listener that serves this origin with this certificate.
    pub fn of(tls: Option<&Tls>, origin: &Origin) -> Self {
        match tls {
            Some(tls) => Self::Tls(tls.acceptor()),
            None if origin.secure() => Self::Proxied,
            None => Self::Plain,
        }
    }
}

/// The limits of connections.
struct ConnectionRoom {
    ordinary: Arc<Semaphore>,
    spare: Arc<Semaphore>,
}

/// A connection's place within the limits.
struct ConnectionPlace {
    /// Whether it may use [`supervision::PATHS`] only.
    spare: bool,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionRoom {
    fn of(limits: &ConnectionLimits) -> Self {
        Self {
            ordinary: Arc::new(Semaphore::new(limits.open)),
            spare: Arc::new(Semaphore::new(SPARE)),
        }
    }

    fn place(&self) -> Option<ConnectionPlace> {
        [(&self.ordinary, false), (&self.spare, true)]
            .into_iter()
            .find_map(|(room, spare)| {
                let permit = Arc::clone(room).try_acquire_owned().ok()?;
                Some(ConnectionPlace {
                    spare,
                    _permit: permit,
                })
            })
    }
}

/// The peer of a connection.
struct Caller {
    /// Whether only a place for the process's supervisor was left.
    spare: bool,
    peer: Peer,
    node: Option<NodePeer>,
    /// Whether it is a proxy that names its clients.
    proxied: bool,
}

struct Connection {
    stream: TcpStream,
    peer: Peer,
    place: ConnectionPlace,
    _share: Share,
    _seat: Seat,
    watcher: Watcher,
}

/// An accept error of one connection needs no pause; one for lack of resources does.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    ) {
        tracing::warn!(%error, "accepting a connection failed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn refuse(stream: &TcpStream, tls: bool) {
    metrics::counter!("selfsame_connections_refused_total").increment(1);
    if !tls {
        let _sent_if_it_fits = stream.try_write(NO_ROOM);
    }
}

/// The refusal after a request has been read.
fn no_room(version: HttpVersion) -> Response {
    metrics::counter!("selfsame_connections_refused_total").increment(1);
    let refused = (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "1")]);
    match version {
        HttpVersion::Http1 => ([(CONNECTION, "close")], refused).into_response(),
        // RFC 9113 §8.2.2: HTTP/2 has no `Connection` field, and other requests of the connection are under way.
        HttpVersion::Http2 => refused.into_response(),
    }
}

async fn connection(connection: Connection, service: HttpService) {
    let Connection {
        stream,
        peer,
        watcher,
        place,
        _share,
        _seat,
    } = connection;
    let caller = service.caller(peer, place.spare);
    let open = metrics::gauge!("selfsame_connections_open");
    open.increment(1.0);
    let _best_effort = stream.set_nodelay(true);
    // A plain connection must not reserve memory for TLS: there may be thousands.
    match &service.door {
        Door::Plain | Door::Proxied => {
            let io = TokioIo::new(stream);
            talk(io, HttpVersion::Http1, caller, &service, watcher).await;
        }
        Door::Tls(acceptor) => {
            Box::pin(encrypted(stream, acceptor, caller, &service, watcher)).await;
        }
        Door::Nodes(gate) => {
            Box::pin(between_nodes(stream, &**gate, caller, &service, watcher)).await;
        }
    }
    open.decrement(1.0);
}

async fn encrypted(
    stream: TcpStream,
    acceptor: &TlsAcceptor,
    caller: Caller,
    service: &HttpService,
    watcher: Watcher,
) {
    let handshake = tokio::time::timeout(service.limits.handshake, acceptor.accept(stream));
    let Some(ended) = unless_over(service, caller.spare, handshake).await else {
        return;
    };
    match ended {
        Ok(Ok(stream)) => {
            let version = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => HttpVersion::Http2,
                // RFC 8737 §3: an authority has seen the certificate, and nothing follows.
                Some(PROTOCOL) => return,
                _ => HttpVersion::Http1,
            };
            talk(TokioIo::new(stream), version, caller, service, watcher).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
        Err(_elapsed) => tracing::debug!("TLS handshake took too long"),
    }
}

async fn between_nodes(
    stream: TcpStream,
    gate: &dyn NodeGate,
    caller: Caller,
    service: &HttpService,
    watcher: Watcher,
) {
    // It has its own time-out, so that it can tell the peer.
    let admitting = gate.admit(stream, caller.peer.address());
    let Some(ended) = unless_over(service, caller.spare, admitting).await else {
        return;
    };
    match ended {
        Ok(AdmittedNode { node, stream }) => {
            let node = Some(node);
            let caller = Caller { node, ..caller };
            let io = TokioIo::new(stream);
            talk(io, HttpVersion::Http1, caller, service, watcher).await;
        }
        Err(error) => tracing::info!(%error, "a node was refused"),
    }
}

/// The result of a handshake; `None` once the server stops, since there is no request yet. Places beyond the limit
/// are few, and a silent peer would occupy one.
async fn unless_over<T>(
    service: &HttpService,
    spare: bool,
    handshake: impl Future<Output = T>,
) -> Option<T> {
    let mut stopping = service.stopping.subscribe();
    tokio::select! {
        ended = handshake => Some(ended),
        _ = stopping.wait_for(|stopping| *stopping) => None,
        () = tokio::time::sleep(SPARE_TIME), if spare => {
            tracing::debug!("TLS handshake took too long on a connection beyond the limit");
            None
        }
    }
}

/// The HTTP version of a connection: negotiated by ALPN with TLS, 1.1 without.
#[derive(Clone, Copy)]
enum HttpVersion {
    Http1,
    Http2,
}

async fn talk<I>(
    io: I,
    version: HttpVersion,
    caller: Caller,
    service: &HttpService,
    watcher: Watcher,
) where
    I: Read + Write + Send + Unpin + 'static,
{
    let activity = Activity::new();
    let spare = caller.spare;
    let router = service.router.clone();
    let watched = activity.clone();
    let limits = &service.limits;
    let (proxies, requests, each) = (
        limits.proxies.clone(),
        service.requests.clone(),
        limits.each,
    );
    let answer = hyper::service::service_fn(move |request: Request<Incoming>| {
        let answering = watched.enter();
        let mut router = router.clone();
        let node = caller.node.clone();
        let peer = match caller.proxied {
            true => caller.peer.behind(request.headers(), &proxies),
            false => caller.peer,
        };
        let share = requests.one(peer.bounded(), each);
        async move {
            let unwatched = spare && !supervision::PATHS.contains(&request.uri().path());
            let Some(share) = share.filter(|_| !unwatched) else {
                return Ok(no_room(version).map(|body| answering.send(body, None)));
            };
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            if let Some(node) = node {
                request.extensions_mut().insert(node);
            }
            let response = router.call(request).await?;
            Ok::<_, Infallible>(response.map(|body| answering.send(body, Some(share))))
        }
    });
    let served = async {
        match version {
            HttpVersion::Http1 => {
                let connection = http1(limits).serve_connection(io, answer);
                upgradable(connection, service, watcher).await
            }
            HttpVersion::Http2 => {
                Box::pin(watcher.watch(http2(limits).serve_connection(io, answer))).await
            }
        }
    };
    tokio::select! {
        ended = served => if let Err(error) = ended {
            tracing::debug!(error = %error, "connection ended early");
        },
        () = activity.silent_for(limits.idle) => {}
        () = tokio::time::sleep(SPARE_TIME), if spare => {}
    }
}

/// Serves a connection that a request may take over. Once it stops being HTTP, its limits are those of who took it.
async fn upgradable<I, S>(
    connection: http1::Connection<I, S>,
    service: &HttpService,
    _watched: Watcher,
) -> hyper::Result<()>
where
    I: Read + Write + Send + Unpin + 'static,
    S: hyper::service::HttpService<
            Incoming,
            ResBody: hyper::body::Body<Error: Into<axum::BoxError>> + 'static,
        >,
    S::Error: Into<axum::BoxError>,
{
    let mut connection = std::pin::pin!(connection.with_upgrades());
    let mut stopping = service.stopping.subscribe();
    let ended = tokio::select! {
        ended = &mut connection => Some(ended),
        _ = stopping.wait_for(|stopping| *stopping) => None,
    };
    match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    }
}

fn http1(limits: &ConnectionLimits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        // hyper starts this clock when it begins to wait for a head, so it also limits idle keep-alive.
        .header_read_timeout(limits.idle)
        .max_buf_size(64 * 1024)
        .max_headers(64);
    builder
}

fn http2(limits: &ConnectionLimits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.idle)
        .keep_alive_timeout(limits.handshake)
        .max_concurrent_streams(64)
        .initial_stream_window_size(256 * 1024)
        .initial_connection_window_size(512 * 1024)
        .max_send_buf_size(64 * 1024)
        .max_header_list_size(32 * 1024);
    builder
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::Extension;
    use axum::extract::ws::WebSocketUpgrade;
    use axum::routing::get;
    use hyper::client::conn::http2::{SendRequest, handshake};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::peer::Proxies;

    fn service(each: usize) -> HttpService {
        let who = |Extension(peer): Extension<Peer>| async move { peer.address().to_string() };
        HttpService {
            router: Router::new()
                .route("/who", get(who))
                .route("/slow", get(std::future::pending::<()>)),
            door: Door::Plain,
            limits: ConnectionLimits {
                each,
                proxies: Proxies::parse(&["203.0.113.9"]).unwrap(),
                ..ConnectionLimits::default()
            },
            shares: Shares::default(),
            requests: Shares::default(),
            pulse: Pulse::default(),
            stopping: watch::Sender::new(false),
        }
    }

    fn peer(address: [u8; 4]) -> Peer {
        Peer::from(SocketAddr::from((address, 1)))
    }

    /// An HTTP/2 connection from this address.
    async fn connect(service: &HttpService, from: [u8; 4]) -> SendRequest<Body> {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (service, caller) = (service.clone(), service.caller(peer(from), false));
        tokio::spawn(async move {
            let graceful = GracefulShutdown::new();
            let watcher = graceful.watcher();
            talk(
                TokioIo::new(far),
                HttpVersion::Http2,
                caller,
                &service,
                watcher,
            )
            .await;
        });
        let io = TokioIo::new(near);
        let (sender, connection) = handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        sender
    }

    fn asking(path: &str) -> Request<Body> {
        let uri = format!("http://localhost{path}");
        Request::get(uri).body(Body::empty()).unwrap()
    }

    async fn answer(sender: &mut SendRequest<Body>, request: Request<Body>) -> (u16, String) {
        let answer = sender.send_request(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(Body::new(answer.into_body()), 1024).await;
        (status, String::from_utf8(body.unwrap().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_request_can_take_over_its_connection() {
        let echo = |upgrade: WebSocketUpgrade| async {
            upgrade.on_upgrade(|mut socket| async move {
                if let Some(Ok(message)) = socket.recv().await {
                    socket.send(message).await.unwrap();
                }
            })
        };
        let service = HttpService {
            router: Router::new().route("/socket", get(echo)),
            ..service(3)
        };
        let (mut near, far) = tokio::io::duplex(64 * 1024);
        let caller = service.caller(peer([203, 0, 113, 1]), false);
        tokio::spawn(async move {
            let watcher = GracefulShutdown::new().watcher();
            let io = TokioIo::new(far);
            talk(io, HttpVersion::Http1, caller, &service, watcher).await;
        });
        let asked = "GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        near.write_all(asked.as_bytes()).await.unwrap();
        // RFC 6455 §5.2: a text of two bytes, masked with zeros.
        near.write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
            .await
            .unwrap();
        let mut read = Vec::new();
        while !read.ends_with(&[0x81, 2, b'h', b'i']) {
            assert!(near.read_buf(&mut read).await.unwrap() > 0);
        }
        assert!(read.starts_with(b"HTTP/1.1 101 "));
    }

    #[test]
    fn the_connections_of_an_address_are_limited_unless_it_is_a_proxy_or_this_machine() {
        let service = service(2);
        let three = |address: [u8; 4]| {
            let shares: Vec<_> = (0..3)
                .filter_map(|_| service.share(peer(address)))
                .collect();
            shares.len()
        };
        assert_eq!(three([203, 0, 113, 1]), 2);
        assert_eq!(three([203, 0, 113, 9]), 3);
        assert_eq!(three([127, 0, 0, 1]), 3);
    }

    #[tokio::test]
    async fn requests_under_way_of_one_address_are_bounded_over_all_its_http2_connections() {
        let service = service(3);
        let mut first = connect(&service, [203, 0, 113, 1]).await;
        let mut second = connect(&service, [203, 0, 113, 1]).await;
        let mut slow = Vec::new();
        for mut sender in [first.clone(), first.clone(), second.clone()] {
            slow.push(tokio::spawn(sender.send_request(asking("/slow"))));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(slow.iter().all(|asked| !asked.is_finished()));
        for sender in [&mut first, &mut second] {
            assert_eq!(answer(sender, asking("/who")).await.0, 503);
        }
        let mut other = connect(&service, [203, 0, 113, 2]).await;
        assert_eq!(answer(&mut other, asking("/who")).await.0, 200);
        // An aborted request frees its place, on every connection.
        slow.pop().unwrap().abort();
        let mut status = 503;
        for _ in 0..3_000 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            status = answer(&mut first, asking("/who")).await.0;
            if status == 200 {
                break;
            }
        }
        assert_eq!(status, 200);
    }

    #[tokio::test]
    async fn only_a_named_proxy_on_another_machine_is_believed_for_whom_it_asks() {
        let service = service(2);
        let asked = async |from: [u8; 4]| {
            let mut request = asking("/who");
            let named = http::HeaderValue::from_static("192.0.2.1, 198.51.100.7");
            request.headers_mut().insert("x-forwarded-for", named);
            answer(&mut connect(&service, from).await, request).await.1
        };
        assert_eq!(asked([203, 0, 113, 9]).await, "198.51.100.7");
        assert_eq!(asked([203, 0, 113, 1]).await, "203.0.113.1");
    }
}
