//! What many, or one who wants to be many, cannot do to others: sockets again.
#![expect(clippy::disallowed_methods, reason = "these tests are the client")]

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::instance::HOST_NAME;
use super::sockets::{Listening, ask, read_to_end, read_until};
use crate::Limits;
use crate::settings::Budget;

/// A place for one, and nobody waits for it.
const ONE: Budget = Budget {
    running: 1,
    waiting: 0,
    patience: Duration::from_secs(1),
};

/// A request whose body does not come.
async fn begin(listening: &Listening, path: &str) -> TcpStream {
    let mut stream = listening.connect().await;
    let about = "content-type: application/json\r\ncontent-length: 5000";
    let head = format!("POST {path} HTTP/1.1\r\nhost: {HOST_NAME}\r\n{about}\r\n\r\n{{");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn bodies_that_do_not_come_take_nobodys_place_and_are_given_up() {
    let listening = Listening::plain(Limits {
        people: ONE,
        protocol: ONE,
        operator: ONE,
        body: Duration::from_secs(3),
        ..Limits::default()
    })
    .await;
    let mut slow = Vec::new();
    for path in [
        "/api/wallet/sessions",
        "/wallet/sign-in",
        "/operator/sign-in",
        "/api/issuer/offers",
        "/issuer/token",
        "/register",
    ] {
        for _ in 0..4 {
            slow.push(begin(&listening, path).await);
        }
    }
    // They have been read as far as they go.
    tokio::time::sleep(Duration::from_millis(300)).await;
    for path in ["/wallet/sign-in", "/operator", "/issuer/did.json"] {
        let mut other = listening.connect().await;
        ask(&mut other, path, HOST_NAME).await;
        let answer = read_until(&mut other, "\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }
    for mut stream in slow {
        let refused = read_to_end(&mut stream).await;
        assert!(refused.starts_with("HTTP/1.1 408"), "{refused}");
        assert!(refused.contains("connection: close"), "{refused}");
    }
    listening.stop().await;
}
