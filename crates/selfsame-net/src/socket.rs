//! One message on a WebSocket of its own (RFC 6455), through the same guard, gates and TLS as every other call.

use futures_util::{SinkExt as _, StreamExt as _};
use http::StatusCode;
use http::header::{self, HeaderMap, HeaderValue};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use url::Url;

use crate::error::NetError;

/// The largest message that is read while the other side ends the connection. None is wanted.
const READ_MAX: usize = 64 * 1024;
/// What is read at once.
const READ_BUFFER: usize = 4 * 1024;

/// The schemes of WebSockets, each with that of the handshake.
const SCHEMES: [(&str, &str); 2] = [("ws", "http"), ("wss", "https")];

/// The URL of the handshake; `None` if the URL is not that of a WebSocket.
pub fn handshake_url(url: &Url) -> Option<Url> {
    let (_, web) = SCHEMES.iter().find(|(socket, _)| *socket == url.scheme())?;
    let rest = url.as_str().strip_prefix(url.scheme())?;
    format!("{web}{rest}").parse().ok()
}

/// A handshake under way.
pub(crate) struct SocketHandshake {
    key: String,
}

impl SocketHandshake {
    pub fn new() -> Self {
        Self {
            key: generate_key(),
        }
    }

    /// Adds the headers of the handshake.
    pub fn ask(&self, headers: &mut HeaderMap) -> Result<(), NetError> {
        let key = HeaderValue::from_str(&self.key)
            .map_err(|_| NetError::BadCall("a key is a header value"))?;
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(
            header::SEC_WEBSOCKET_VERSION,
            HeaderValue::from_static("13"),
        );
        headers.insert(header::SEC_WEBSOCKET_KEY, key);
        Ok(())
    }

    /// Checks the answer.
    pub fn check(&self, status: StatusCode, headers: &HeaderMap) -> Result<(), NetError> {
        match status {
            StatusCode::SWITCHING_PROTOCOLS => {}
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                return Err(NetError::Busy { retry_after: 1 });
            }
            _ => return Err(NetError::Malformed("the host opens no WebSocket")),
        }
        let accepted = headers.get(header::SEC_WEBSOCKET_ACCEPT);
        let is_ours = accepted.is_some_and(|accepted| {
            accepted.as_bytes() == derive_accept_key(self.key.as_bytes()).as_bytes()
        });
        match is_ours {
            true => Ok(()),
            false => Err(NetError::Malformed("the host answers another handshake")),
        }
    }
}

/// Sends a message and ends the connection. The other side has read the message once it agrees to the end.
pub(crate) async fn send(
    upgraded: hyper::upgrade::Upgraded,
    message: Vec<u8>,
) -> Result<(), NetError> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(READ_MAX))
        .max_frame_size(Some(READ_MAX))
        .read_buffer_size(READ_BUFFER);
    let io = TokioIo::new(upgraded);
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Client, Some(config)).await;
    let broken = |_| NetError::Unreachable;
    let message = Message::Binary(message.into());
    socket.send(message).await.map_err(broken)?;
    socket.close(None).await.map_err(broken)?;
    loop {
        match socket.next().await {
            Some(Ok(Message::Close(_))) | Some(Err(SocketError::ConnectionClosed)) => return Ok(()),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err(NetError::Unreachable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_of_a_socket_is_a_call_of_the_web() {
        let of = |url: &str| handshake_url(&url.parse().unwrap()).map(|url| url.to_string());
        assert_eq!(
            of("ws://a.example:8080/x?y"),
            Some("http://a.example:8080/x?y".to_owned())
        );
        assert_eq!(
            of("wss://a.example/"),
            Some("https://a.example/".to_owned())
        );
        assert_eq!(of("https://a.example/"), None);
    }

    #[test]
    fn only_the_answer_to_this_handshake_opens_a_socket() {
        let handshake = SocketHandshake::new();
        let mut headers = HeaderMap::new();
        let opened = StatusCode::SWITCHING_PROTOCOLS;
        assert!(handshake.check(opened, &headers).is_err());
        let other = derive_accept_key(b"another").parse().unwrap();
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, other);
        assert!(handshake.check(opened, &headers).is_err());
        let own = derive_accept_key(handshake.key.as_bytes()).parse().unwrap();
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, own);
        assert_eq!(handshake.check(opened, &headers), Ok(()));
        assert!(handshake.check(StatusCode::OK, &headers).is_err());
    }
}
