//! Clicks through the pages in headless Chromium, as a person would: by labels, buttons and visible text.
//!
//! These tests need Chromium and its driver, so plain `cargo test` lists them as ignored; `cargo xtask test` installs
//! both if they are missing and runs them.

#[expect(
    clippy::disallowed_methods,
    reason = "tests of processes measure real time"
)]
#[allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]
#[path = "../support/http.rs"]
mod http;
#[path = "../../../selfsame-testkit/shared/port.rs"]
mod port;

mod agents;
mod approving;
mod browser;
mod by_browser;
mod embedded;
mod instance;
mod live;
mod npm;
mod organisations;
mod own;
mod pages;
mod passkeys;
mod people;
mod process;
mod recovery;
mod registry;
mod rig;
mod sign_in;
mod sign_in_pages;
mod sign_in_ways;
mod walk;
