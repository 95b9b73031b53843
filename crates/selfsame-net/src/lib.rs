//! Owns: every outbound call, the guard against calls that point inward, the cache of what
//! was fetched. Does not own: what is fetched, what it means, whether it is trusted.

mod cache;
mod client;
mod dial;
mod error;
mod gate;
pub mod guard;
mod local;
mod localhost;
mod message;
mod node;
mod resolver;
mod settings;

pub use cache::{Cache, CacheSettings, Fresh};
pub use client::Net;
pub use dial::dial;
pub use error::{NetError, WhoMustAct};
pub use localhost::localhost;
pub use message::{Authorization, Body, Call, Limits, Method, Request, Response};
pub use settings::Settings;
