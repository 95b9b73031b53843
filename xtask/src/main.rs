//! Development tasks: `cargo xtask tidy`, `test`, `openapi`, `cometbft`, `faults`, `siege`, `arm`, `cross`, `bench`,
//! `package`.
#![allow(
    clippy::disallowed_macros,
    reason = "this binary talks to a developer's terminal"
)]

use std::process::ExitCode;

mod aries;
mod arm;
mod askar;
mod axe;
mod changed;
mod clients;
mod collector;
mod deploy;
mod didcomm;
mod engine;
mod faults;
mod integrity;
mod jmeter;
mod lint;
mod machine;
mod mail;
mod mdoc;
mod node;
mod openssl;
mod oracle;
mod package;
mod parties;
mod pebble;
mod peer;
mod processor;
mod python;
mod second;
mod siege;
mod source;
mod test;
mod tidy;
mod webvh;
mod workspace;

const USAGE: &str = "\
Development tasks of Selfsame.

Usage: cargo xtask tidy [FOLDER]
       cargo xtask test [--longer] [--only STEP]... [--skip STEP]... [-- CARGO TEST ARGUMENTS]
       cargo xtask test --changed [--since REVISION]
       cargo xtask openapi
       cargo xtask cometbft
       cargo xtask faults [--times N]
       cargo xtask siege
       cargo xtask arm [aarch64 | armv7] [--only tests | --only program]
       cargo xtask cross anoncreds [--count N] [--adx | --portable]
       cargo xtask cross tls
       cargo xtask cross sd-jwt
       cargo xtask cross openid4vc
       cargo xtask cross clients
       cargo xtask cross askar
       cargo xtask cross didcomm
       cargo xtask cross mdoc
       cargo xtask cross data-integrity
       cargo xtask cross webvh
       cargo xtask cross jmeter PLAN.jmx [--minutes N] [--users N]
       cargo xtask cross sign-in-plan PLAN.jmx [--minutes N] [--users N]
       cargo xtask cross aries [acapy | credo]
       cargo xtask cross relying-parties
       cargo xtask bench anoncreds [--quick] [--json] [--adx | --portable] [--only NAME]
       cargo xtask bench tls [--quick] [--json] [--out DIR]
       cargo xtask package deb|image [--program FILE] [--version VERSION]
       cargo xtask package try [--program FILE]

tidy   checks layers, sizes, module docs and documents; prints what to do;
       with a folder, only what is below it
test   installs what the tests need and runs everything; --help lists its steps; with
       --changed, only what a change can have broken; with --longer, what a release needs too.
       Clippy's compiler compiles the tests, so a lint fails the build
openapi  writes docs/openapi.json anew, from the routes of the server
cometbft  builds the engine of registry networks into target/cometbft, with Go
faults runs what may happen to a registry network with real processes, N times in a row
siege  attacks an instance of 1 GiB in every known way while honest people use it;
       exit code 1 if it aborts, shuts them out or is slow for them
arm    compiles for 64-bit and 32-bit ARM: runs the tests of arithmetic, cryptography and
       TLS under qemu, builds the program for a release, and asks it something
cross  lets our AnonCreds and the published library speak to each other, N random
       flows in place of a few; or our TLS and the second implementation of it; or our
       SD-JWT VCs and a published package; or our issuer, wallet and verifier and those
       of published packages for Node.js; or clients made of docs/openapi.json and an
       instance; or our reader of Askar's wallets and Askar; or our DIDComm and those of
       ACA-Py and of a published package; or our mdocs and published packages for Node.js
        and Python; or our Data Integrity proofs and a published package for Node.js;
        or our logs of did:webvh and published packages for both;
        or our Aries agent with ACA-Py and with Credo;
       or relying parties made by others, in Go, Python, Node.js and Java, that let people
       sign in at an instance; or JMeter with a load plan that was made for ACA-Py and agents of ours: a table of its steps, exit code 1 if a request failed;
       or JMeter with a load plan that was made for eSignet and a provider of ours, likewise
bench  times ours and the published library alternately, or the TLS bench with OpenSSL
       beside; exit code 1 if a bar is not kept
package  writes the Debian package or the container image into target/package, of a
       program that it builds for a release or that you name; or tries both: installs,
       starts, upgrades and removes them in a fresh Debian root, and starts the image

Example: cargo xtask test --only test -- -p selfsame-did
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let done = match task.as_str() {
        builds if lint::is_wanted(builds) => lint::run_again(builds, &rest),
        "tidy" if rest.len() <= 1 => tidy::run(rest.first().map_or("", String::as_str)),
        "test" => test::run(&rest),
        changed::alone::TASK => changed::alone::run(&rest),
        "openapi" => clients::openapi(&rest),
        "cometbft" => engine::command(&rest),
        "faults" => faults::command(&rest),
        "siege" => siege::command(&rest),
        "arm" => arm::command(&rest),
        "cross" => oracle::cross_command(&rest),
        "package" => deploy::command(&rest),
        "bench" => oracle::bench_command(&rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(true)
        }
        _ => Err(format!("unknown task or argument\n\n{USAGE}")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::from(2)
        }
    }
}
