//! The commands `selfsame tls …`, and a node's TLS as command lines and settings files describe it.
//!
//! Owns: the family of commands, the policy for peers as options and as settings, a node's folder and what it presents,
//! how a node resolves the DIDs of its peers, the hints for a refused handshake. Does not own: TLS (`selfsame-tls`), its
//! sockets (`selfsame-tls-io`), the proxy's work (`selfsame-proxy`), an instance and its settings file.

mod advice;
mod client;
mod command;
mod hooks;
mod identity;
pub mod node;
pub mod peers;
mod proxy;
mod server;
mod tell;

pub use command::Tls;
pub use hooks::{Hooks, NamedRegistry, ResolutionSettings};
