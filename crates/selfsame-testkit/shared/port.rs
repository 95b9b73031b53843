//! Ports for the servers of tests. Tests of crates include this file by its path, so that they need not build the rest of
//! the kit.

use std::sync::{Mutex, PoisonError};

use tokio::net::TcpSocket;

/// The ports that this process holds.
static HELD: Mutex<Vec<TcpSocket>> = Mutex::new(Vec::new());

/// A port on loopback that no process listens on. It stays bound for as long as this process lives, so that the system
/// gives it to no other, nor to an outgoing connection. A server that asks for it by number, with `SO_REUSEADDR` as
/// servers do, gets it.
pub fn free_port() -> u16 {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    HELD.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(socket);
    port
}
