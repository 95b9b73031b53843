//! Purity: paths that code of a layer must not name, even if a dependency provides them.

use crate::{source::Source, workspace::Workspace};

use super::{Finding, layers};

/// A banned path, with everything below it, and what to use instead.
type Ban = (&'static str, &'static str);

/// Banned from L0–L2.
const PURE: &[Ban] = &[
    ("std::time::SystemTime", "take `now` from `Ctx`"),
    ("std::time::Instant", "take `now` from `Ctx`"),
    (
        "std::net",
        "addresses are in `core::net`; sockets belong to selfsame-net",
    ),
    ("std::fs", "files belong to selfsame-store and the binary"),
    ("std::env", "the binary reads the environment"),
    (
        "std::process::Command",
        "only the binary and tests start processes",
    ),
    (
        "std::process::exit",
        "return an error; the binary turns it into an exit code",
    ),
    ("std::thread", "the use case decides where work runs"),
    ("std::io::stdin", "only commands talk to the terminal"),
    ("std::io::stdout", "only commands talk to the terminal"),
    ("std::io::stderr", "only commands talk to the terminal"),
    (
        "tokio",
        "a machine answers with needs and calls; selfsame-core waits for them",
    ),
    (
        "StatusCode",
        "only selfsame-http and the faces on it know status codes",
    ),
];

/// Banned from L0–L2, except in the modules that may draw their own randomness.
const RANDOM: &[Ban] = &[
    ("SystemRandom", "take randomness from `Ctx`"),
    ("OsRng", "take randomness from `Ctx`"),
    ("random_seed", "take randomness from `Ctx`"),
];
const RANDOM_MODULES: &[&str] = &[
    "crates/selfsame-crypto/src/generate.rs",
    "crates/selfsame-crypto/src/p256.rs", // aws-lc draws the nonce of each ECDSA signature itself
    "crates/selfsame-crypto/src/password.rs",
    "crates/selfsame-crypto/src/rsa.rs", // aws-lc draws the salt of each PSS signature itself
    "crates/selfsame-crypto/src/seal.rs", // offers `random_seed` under its own name
];

/// Also banned from the deterministic machine: replicas must agree to the last bit.
const DETERMINISTIC: &[Ban] = &[
    (
        "HashMap",
        "use `BTreeMap`: its order is the same everywhere",
    ),
    (
        "HashSet",
        "use `BTreeSet`: its order is the same everywhere",
    ),
    ("f32", "use integers: floats round differently"),
    ("f64", "use integers: floats round differently"),
];

/// Also banned there: the results depend on the compiler's version of Unicode.
const UNICODE: &[Ban] = &[
    ("to_lowercase", FROZEN),
    ("to_uppercase", FROZEN),
    ("is_lowercase", FROZEN),
    ("is_uppercase", FROZEN),
    ("is_alphabetic", FROZEN),
    ("is_alphanumeric", FROZEN),
    ("is_numeric", FROZEN),
    ("is_whitespace", FROZEN),
    ("split_whitespace", FROZEN),
    ("trim", FROZEN),
    ("trim_start", FROZEN),
    ("trim_end", FROZEN),
];
const FROZEN: &str =
    "use the ASCII form, or a table of one's own: this one changes with the compiler";

/// The code that decides what the machine accepts: a whole package, or everything below these paths.
const JUDGING: &[&str] = &[
    "crates/selfsame-registry/src/",
    "crates/selfsame-anoncreds/src/format/",
    "crates/selfsame-anoncreds/src/format.rs",
    "crates/selfsame-anoncreds/src/definition.rs",
    "crates/selfsame-anoncreds/src/definition/",
];

/// Shares names and encodings with the machine. Its own caches may use maps in any order.
const SHARED: &str = "crates/selfsame-proof/src/";
/// Part of requests and offers, which the machine does not judge: a wallet accepts a nonce that was written as a float.
const UNJUDGED: &str = "crates/selfsame-anoncreds/src/format/nonce.rs";

const PRINTS: &str = "only selfsame-terminal prints; elsewhere use tracing";
/// An end of the TLS bench is a process of its own, which tells its parent what it measured.
const PRINTERS: &[&str] = &["selfsame-terminal", "selfsame-bench"];

/// Banned from every crate except those listed.
const ELSEWHERE: &[(Ban, &[&str])] = &[
    (
        ("hyper::client", "selfsame-net makes the outbound calls"),
        &["selfsame-net", "selfsame-bench"],
    ),
    (
        (
            "hyper_util::client",
            "selfsame-net makes the outbound calls",
        ),
        &["selfsame-net", "selfsame-bench"],
    ),
    (
        (
            "TcpStream::connect",
            "selfsame-net makes the outbound calls",
        ),
        &["selfsame-net", "selfsame-bench"],
    ),
    (
        ("UdpSocket", "selfsame-net makes the outbound calls"),
        &["selfsame-net", "selfsame-bench"],
    ),
    (("io::stdout", PRINTS), PRINTERS),
    (("io::stderr", PRINTS), PRINTERS),
    (
        (
            "StatusCode",
            "only selfsame-http and the faces on it know status codes",
        ),
        &[
            "selfsame-http",
            "selfsame-acapy",
            "selfsame-endpoints",
            "selfsame-esignet",
            "selfsame-oidc-endpoints",
            "selfsame-sample",
            "selfsame-server",
            "selfsame-sign-in-ui",
            "selfsame-vc-api",
            "selfsame-net",
            "selfsame-bench",
        ],
    ),
];

pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let product = workspace.sources.iter();
    let product = product.filter(|source| !source.test_only && !layers::is_aside(&source.package));
    product.flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Finding> {
    let mut bans: Vec<Ban> = Vec::new();
    let mut findings = Vec::new();
    if layers::is_pure(&source.package) {
        bans.extend(PURE);
        if !RANDOM_MODULES.contains(&source.path.as_str()) {
            bans.extend(RANDOM);
        }
        let message =
            "L0–L2 have no asynchrony; answer with a `Need` or a call, and let selfsame-core wait";
        findings.extend(
            source
                .asynchronous
                .iter()
                .map(|line| Finding::at(&source.path, *line, message)),
        );
    }
    let path = source.path.as_str();
    let judges = JUDGING.iter().any(|place| path.starts_with(place)) && path != UNJUDGED;
    if judges {
        bans.extend(DETERMINISTIC);
    }
    if judges || path.starts_with(SHARED) {
        bans.extend(UNICODE);
    }
    let elsewhere = ELSEWHERE
        .iter()
        .filter(|(_, homes)| !homes.contains(&source.package.as_str()));
    bans.extend(elsewhere.map(|(ban, _)| *ban));
    for (path, line) in source.paths.iter().chain(&source.methods) {
        let banned = bans.iter().find(|(ban, _)| covers(ban, path));
        findings.extend(banned.map(|(ban, instead)| {
            Finding::at(
                &source.path,
                *line,
                format!("`{ban}` has no place here: {instead}"),
            )
        }));
    }
    findings
}

/// Whether a ban covers a path, or an import of the module that contains the banned item.
fn covers(ban: &str, path: &str) -> bool {
    let ban: Vec<&str> = ban.split("::").collect();
    let path: Vec<&str> = path.split("::").collect();
    if ban.first() == Some(&"std") || ban.first() == Some(&"tokio") {
        let module = path.len() > 1 && path.len() < ban.len() && ban.starts_with(&path);
        let glob = path
            .split_last()
            .is_some_and(|(last, module)| *last == "*" && ban.starts_with(module));
        return path.starts_with(&ban) || module || glob;
    }
    path.windows(ban.len()).any(|window| window == ban)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(package: &str, text: &str) -> Vec<Finding> {
        let path = format!("crates/{package}/src/a.rs");
        check_source(&Source::parse(package, &format!("crates/{package}"), &path, text).unwrap())
    }

    #[test]
    fn a_clock_in_a_pure_layer_is_found_however_it_is_written() {
        for text in [
            "use std::time::Instant;",
            "use std::{fmt, time::{Duration, SystemTime}};",
            "use std::time;",
            "use std::time::*;",
            "fn a() { let _ = std::time::SystemTime::now(); }",
            "fn a() { assert!(std::time::Instant::now() > b); }",
        ] {
            assert_eq!(findings("selfsame-did", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_a_pure_layer_may_use_is_left_alone() {
        for text in [
            "use std::time::Duration;",
            "use core::net::IpAddr;",
            "use std::io::Read;",
            "#[cfg(test)]\nmod tests { use std::fs; async fn a() {} }",
        ] {
            assert_eq!(findings("selfsame-did", text), [], "{text}");
        }
    }

    #[test]
    fn randomness_comes_in_through_ctx() {
        let text = "fn a() { let _ = selfsame_crypto::generate::random_seed(); }";
        assert_eq!(findings("selfsame-openid4vc", text).len(), 1);
        assert_eq!(findings("selfsame-app", text), []);
    }

    #[test]
    fn an_async_function_in_a_pure_layer_is_found() {
        assert_eq!(findings("selfsame-did", "async fn a() {}").len(), 1);
        assert_eq!(findings("selfsame-app", "async fn a() {}"), []);
    }

    #[test]
    fn the_machine_has_no_floats_and_no_hash_order() {
        let text = "use std::collections::HashMap;\nfn a(b: f64) {}";
        assert_eq!(findings("selfsame-registry", text).len(), 2);
        assert_eq!(findings("selfsame-did", text), []);
    }

    #[test]
    fn the_machine_asks_the_compiler_nothing_of_unicode() {
        for text in [
            "fn a(b: &str) { b.trim(); }",
            "fn a(b: &str) { b.chars().any(char::is_whitespace); }",
            "fn a(b: &str) { c!(b.to_lowercase()); }",
        ] {
            assert_eq!(findings("selfsame-registry", text).len(), 1, "{text}");
            assert_eq!(findings("selfsame-app", text), [], "{text}");
        }
        let text = "fn a(b: &str) { b.trim_ascii().to_ascii_lowercase(); }";
        assert_eq!(findings("selfsame-registry", text), []);
    }

    #[test]
    fn only_the_terminal_crate_prints() {
        for text in [
            "fn a() { tokio::io::stdout(); }",
            "use std::io::stderr;",
            "fn a() { io::stdout(); }",
        ] {
            assert_eq!(findings("selfsame", text).len(), 1, "{text}");
            assert_eq!(findings("selfsame-terminal", text), [], "{text}");
        }
    }

    #[test]
    fn only_the_net_crate_dials_out() {
        let text = "fn a() { tokio::net::TcpStream::connect(b); }";
        assert_eq!(findings("selfsame-app", text).len(), 1);
        assert_eq!(findings("selfsame-net", text), []);
    }
}
