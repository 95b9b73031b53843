//! The choice of an application protocol (ALPN).

use crate::alert::{Alert, Refusal};
use crate::config::ServerConfig;

/// The first of our application protocols that the client supports (RFC 7301 §3.2).
pub(super) fn protocol(
    config: &ServerConfig,
    offered: &[Vec<u8>],
) -> Result<Option<Vec<u8>>, Refusal> {
    let ours = &config.common.protocols;
    if ours.is_empty() || offered.is_empty() {
        return Ok(None);
    }
    let chosen = ours.iter().find(|name| offered.contains(name));
    match chosen {
        Some(name) => Ok(Some(name.clone())),
        None => Err(Refusal::new(
            Alert::NoApplicationProtocol,
            "no application protocol in common",
        )),
    }
}
