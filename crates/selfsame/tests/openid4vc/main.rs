//! Interoperability of OpenID4VCI and OpenID4VP with the packages @openid4vc/openid4vci and @openid4vc/openid4vp, from
//! which others build wallets, issuers and verifiers: `cargo xtask cross openid4vc`.
#![expect(
    clippy::disallowed_methods,
    reason = "a test of processes starts them, and measures real time"
)]
#![allow(
    dead_code,
    reason = "the support is shared, and each test uses its part of it"
)]

#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;

mod npm;
