//! A siege: every known denial-of-service attack, against a process limited to 1 GiB of data, while honest people use
//! it. `cargo xtask siege` runs it; its last line is the summary.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "the siege measures real time, opens its own connections and tells a person how it goes"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

#[path = "../e2e/foreign.rs"]
mod foreign;
#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;
#[path = "../e2e/rig.rs"]
mod rig;

mod attacks;
mod honest;
mod host;
mod issuer;

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;
use url::Url;

use crate::attacks::{ATTACKS, Target};
use crate::honest::{Honest, Report};
use crate::host::Host;
use crate::instance::free_port;
use crate::issuer::Issuer;
use crate::rig::World;

/// The memory for data that the process may have, in bytes.
const LIMIT: u64 = 1 << 30;
/// How long each attack lasts.
const ATTACK: Duration = Duration::from_secs(20);
/// Maximum duration of an honest request, in 99 of 100 cases.
const SLOWEST: Duration = Duration::from_secs(1);
/// Maximum duration of `/livez`, in 99 of 100 cases.
const SLOWEST_LIFE: Duration = Duration::from_millis(100);
/// Maximum time after an attack until everything is as before.
const RECOVERY: Duration = Duration::from_secs(5);
/// The variable with the attacker process's instructions.
const TOLD: &str = "SELFSAME_SIEGE";

/// Only `cargo xtask siege` runs this.
mod siege {
    use super::*;

    #[test]
    #[ignore = "minutes long: cargo xtask siege"]
    fn an_instance_stands_every_attack_and_serves_honest_people_meanwhile() {
        let host = Host::start();
        let (origin, watched) = (host.origin(), free_port());
        let settings = format!(
            "[limits]\ntrusted_proxies = [\"127.0.0.1\"]\n[health]\nlisten = \"127.0.0.1:{watched}\"\n"
        );
        let issuer = Issuer::start();
        // The instance listens on all addresses, so that an attack can come from an address that is not this machine's
        // own.
        let arguments = [
            "--trust-origin",
            &origin,
            "--trust-origin",
            issuer.origin(),
            "--allow-plain-http",
        ];
        let world = World::prepared_at("0.0.0.0", &arguments, |_, _| settings);
        limited(world.instance.id());
        let target = Target::of(&world, &host, &issuer);
        let honest = Honest::of(&world, watched);
        let calm = honest.during(Duration::from_secs(3), || {});
        println!("calm: {calm}");

        let mut worst = Report::default();
        let mut longest = Duration::ZERO;
        for name in ATTACKS {
            let report = honest.during(ATTACK, || attack(name, &target));
            let recovery = honest.recovery(&calm);
            let memory = memory(world.instance.id());
            println!("{name}: {report}; normal after {recovery:.1?}; {memory} MiB");
            worst.add(&report, memory);
            longest = longest.max(recovery);
            assert!(memory > 0, "{name}: the process is gone");
        }
        let held = worst.slowest() <= SLOWEST
            && worst.life() <= SLOWEST_LIFE
            && worst.refused == 0
            && longest <= RECOVERY;
        println!(
            "siege: {}: {} attacks, no abort, {} honest requests with {} refused, p99 {:.0?} of {SLOWEST:.0?}, livez p99 {:.0?} of {SLOWEST_LIFE:.0?}, normal after {longest:.1?} of {RECOVERY:.0?}, {} of {} MiB",
            if held { "held" } else { "NOT held" },
            ATTACKS.len(),
            worst.requests(),
            worst.refused,
            worst.slowest(),
            worst.life(),
            worst.memory,
            LIMIT >> 20,
        );
        assert!(held);
    }

    /// The attacker's process.
    #[test]
    #[ignore = "the siege starts it"]
    fn attacker() {
        let told = std::env::var(TOLD).unwrap();
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        let target = Target::told(&told);
        attacks::run(
            told["attack"].as_str().unwrap(),
            &target,
            Instant::now() + ATTACK,
        );
    }
}

/// Runs an attack in a separate process with low priority, so that the attack does not starve the machine itself.
fn attack(name: &str, target: &Target) {
    let told = json!({ "attack": name, "target": target.tell() });
    let status = Command::new("nice")
        .args(["-n", "19"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "siege::attacker",
            "--quiet",
            "--nocapture",
        ])
        .env(TOLD, told.to_string())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{name}: the attacker ended by itself");
}

/// Limits the memory that a process may have. Its allocator must not have reserved all of it at the start.
fn limited(process: u32) {
    let has = status(process, "VmData:");
    assert!(
        has < LIMIT >> 21,
        "{has} MiB are reserved: start it by cargo xtask siege"
    );
    let status = Command::new("prlimit")
        .args(["--pid", &process.to_string()])
        .arg(format!("--data={LIMIT}"))
        .status()
        .unwrap();
    assert!(status.success());
}

/// The MiB that a process has in memory; 0 if it has ended.
fn memory(process: u32) -> u64 {
    status(process, "VmRSS:")
}

/// A value from a process's status, in MiB.
fn status(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or_default() >> 10
}

fn url(origin: &Url, path: &str) -> Url {
    origin.join(path).unwrap()
}
