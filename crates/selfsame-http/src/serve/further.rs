//! Listeners beside the main one, each with addresses of its own.

use std::fmt;

use axum::Router;
use tokio::net::TcpListener;

use super::{Door, HttpService, Listening};

/// A listener with addresses of its own.
pub struct FurtherListener {
    /// The listener.
    pub listener: TcpListener,
    /// What it serves.
    pub router: Router,
    /// Whether all its connections come from a proxy that names its clients.
    pub is_proxied: bool,
}

impl fmt::Debug for FurtherListener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FurtherListener")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl FurtherListener {
    /// With the limits of the main listener.
    pub fn beside(self, main: &HttpService) -> Listening {
        let door = match self.is_proxied {
            true => Door::Proxied,
            false => Door::Plain,
        };
        Listening {
            listener: self.listener,
            service: HttpService {
                router: self.router,
                door,
                ..main.clone()
            },
        }
    }
}
