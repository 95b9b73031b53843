//! Health checks for the process's supervisor, on a listener and a thread of their own, so that load elsewhere cannot
//! delay them.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse as _;
use http::header::HOST;
use http::{HeaderMap, Request, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, watch};
use tower::Service as _;
use url::{Host, Url};

use crate::pulse::Pulse;

/// Maximum number of connections, and how long each may last.
const CONNECTIONS: usize = 64;
const TIME: Duration = Duration::from_secs(10);

/// What the listener of health checks serves.
pub struct Health {
    /// Answers the requests.
    pub router: Router,
    /// Counted here, since this thread is never busy for long.
    pub pulse: Pulse,
    /// Becomes `true` when the server stops.
    pub stopping: watch::Receiver<bool>,
}

/// Serves health checks on `listener` until the server stops.
///
/// # Errors
/// If the thread can't be started.
pub fn start(listener: TcpListener, health: Health) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let Health {
        router,
        pulse,
        stopping,
    } = health;
    std::thread::Builder::new()
        .name("health".to_owned())
        .spawn(move || {
            let answered = runtime.block_on(async {
                tokio::select! {
                    answered = answer(listener, router, stopping) => answered,
                    () = pulse.count() => Ok(()),
                }
            });
            if let Err(error) = answered {
                tracing::error!(%error, "the listener of [health] has stopped");
            }
        })?;
    Ok(())
}

async fn answer(
    listener: TcpListener,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                super::pause_after(&error).await;
                continue;
            }
        };
        // A connection that finds no place gets no response, which the supervisor can interpret too.
        if let Ok(place) = Arc::clone(&room).try_acquire_owned() {
            let router = router.clone();
            tokio::spawn(async move {
                let _ended_or_late = tokio::time::timeout(TIME, connection(stream, router)).await;
                drop(place);
            });
        }
    }
}

async fn connection(stream: TcpStream, router: Router) {
    let local = stream
        .local_addr()
        .is_ok_and(|at| at.ip().to_canonical().is_loopback());
    let answer = hyper::service::service_fn(move |request: Request<Incoming>| {
        let mut router = router.clone();
        async move {
            if local && is_rebound(request.headers()) {
                return Ok(StatusCode::MISDIRECTED_REQUEST.into_response());
            }
            router.call(request.map(Body::new)).await
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(TIME)
        .keep_alive(false);
    let served = builder.serve_connection(TokioIo::new(stream), answer);
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection to the listener of [health] ended early");
    }
}

/// Whether loopback is addressed by a name, as in DNS rebinding.
fn is_rebound(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let url = host.and_then(|host| Url::parse(&format!("http://{host}/")).ok());
    !matches!(
        url.as_ref().and_then(Url::host),
        Some(Host::Ipv4(_) | Host::Ipv6(_) | Host::Domain("localhost"))
    )
}
