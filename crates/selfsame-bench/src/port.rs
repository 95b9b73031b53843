//! Ports for the processes of a benchmark.

use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::net::TcpSocket;

/// The ports that this process holds.
static HELD: Mutex<Vec<TcpSocket>> = Mutex::new(Vec::new());

/// A port on loopback that no process listens on. It stays bound for as long as this process lives, so that the system
/// gives it to no other, nor to an outgoing connection. A process that asks for it by number, with `SO_REUSEADDR` as
/// servers do, gets it.
///
/// # Errors
/// If the machine has no free port.
pub fn free_port() -> io::Result<u16> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let port = socket.local_addr()?.port();
    HELD.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(socket);
    Ok(port)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_free_port_is_kept_for_the_server_that_asks_for_it() {
        let (one, other) = (free_port().unwrap(), free_port().unwrap());
        assert_ne!(one, other);
        TcpListener::bind(("127.0.0.1", one)).unwrap();
    }
}
