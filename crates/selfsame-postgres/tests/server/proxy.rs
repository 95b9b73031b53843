//! A forwarder between a process and its database, which can be told to misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the forwarder does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Manner {
    Forwards,
    /// Takes bytes and passes none on, in either direction. A connection that lost bytes stays like that.
    Swallows,
    /// Passes requests on, and closes the connection in place of an answer.
    CutsAnswers,
    /// Closes each connection.
    Refuses,
    /// Passes answers on after a while.
    Lingers,
}

/// The running forwarder.
pub struct Proxy {
    pub port: u16,
    manner: Arc<AtomicU8>,
}

impl Proxy {
    pub async fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let manner = Arc::new(AtomicU8::new(Manner::Forwards as u8));
        let shared = manner.clone();
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(forward(client, to, shared.clone()));
            }
        });
        Self { port, manner }
    }

    pub fn set(&self, manner: Manner) {
        self.manner.store(manner as u8, Ordering::SeqCst);
    }
}

fn is(shared: &AtomicU8, manner: Manner) -> bool {
    shared.load(Ordering::SeqCst) == manner as u8
}

async fn forward(mut client: TcpStream, to: u16, manner: Arc<AtomicU8>) {
    if is(&manner, Manner::Refuses) {
        return;
    }
    #[allow(clippy::disallowed_methods, reason = "a test's own forwarder")]
    let Ok(mut server) = TcpStream::connect(("127.0.0.1", to)).await else {
        return;
    };
    let (mut asked, mut answered) = ([0; 16_384], [0; 16_384]);
    let mut is_silent = false;
    loop {
        let open = tokio::select! {
            read = client.read(&mut asked) => match read {
                Ok(0) | Err(_) => false,
                Ok(_) if is_silent || is(&manner, Manner::Swallows) => {
                    is_silent = true;
                    true
                }
                Ok(length) => server.write_all(&asked[..length]).await.is_ok(),
            },
            read = server.read(&mut answered) => match read {
                Ok(0) | Err(_) => false,
                Ok(_) if is_silent || is(&manner, Manner::Swallows) => {
                    is_silent = true;
                    true
                }
                Ok(_) if is(&manner, Manner::CutsAnswers) => false,
                Ok(length) => {
                    if is(&manner, Manner::Lingers) {
                        tokio::time::sleep(Duration::from_millis(300)).await;
                    }
                    client.write_all(&answered[..length]).await.is_ok()
                }
            },
        };
        if !open || is(&manner, Manner::Refuses) {
            return;
        }
    }
}
