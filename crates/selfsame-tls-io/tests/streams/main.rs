//! Handshakes and data over tokio and blocking streams.

mod early;
mod over_threads;
mod over_tokio;
mod watched;
mod world;
