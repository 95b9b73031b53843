//! The addresses that an instance listens at.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use crate::exit::Failure;

/// The maximum number of connections that wait to be accepted.
const WAITING_CONNECTIONS: u32 = 1024;

/// Listens at an address.
///
/// # Errors
/// If it can't.
pub async fn bind(at: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(at).await.map_err(|error| {
        Failure::environment(format!("{at}: {error}"))
            .hint("an instance may be running there already; otherwise choose another address with --listen")
    })
}

/// Listens beside other processes on the same address. The system gives each connection to one of them.
///
/// # Errors
/// If it can't.
pub fn bind_beside(at: SocketAddr) -> Result<TcpListener, Failure> {
    let socket = match at {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(true)?;
    let bound = socket
        .bind(at)
        .and_then(|()| socket.listen(WAITING_CONNECTIONS));
    bound.map_err(|error| {
        Failure::environment(format!("{at}: {error}")).hint("choose another address with --listen")
    })
}

/// Listens for the questions whether the instance is well.
///
/// # Errors
/// If it can't.
pub fn bind_health(at: SocketAddr) -> Result<std::net::TcpListener, Failure> {
    std::net::TcpListener::bind(at).map_err(|error| {
        Failure::environment(format!("[health] listen: {at}: {error}"))
            .hint("name an address of this machine with a free port")
    })
}
