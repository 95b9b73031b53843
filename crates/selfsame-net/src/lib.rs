//! Owns: all outbound calls, the guard against calls to internal addresses, the cache of fetched values. Does not own:
//! what is fetched, its meaning, whether it is trusted.

mod cache;
mod client;
mod dial;
mod error;
mod gate;
pub mod guard;
mod local;
mod localhost;
pub mod mail;
mod message;
mod node;
mod resolver;
mod settings;
mod socket;
mod traced;

pub use cache::{Cache, CacheSettings, Fresh};
pub use client::Net;
pub use dial::dial;
pub use error::NetError;
pub use localhost::localhost;
pub use message::{Authorization, Body, Call, CallHeader, CallLimits, Method, Request, Response};
pub use node::{SecureNode, SecuredStream, Securing};
pub use settings::Settings;
