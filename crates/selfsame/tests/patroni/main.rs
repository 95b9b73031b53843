//! PostgreSQL under Patroni, as docs/high-availability.md sets it up: the primary is killed while two processes serve, and
//! is changed by hand.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests of a process measure real time, print their figures and open their own connections"
)]
#![allow(
    dead_code,
    reason = "the support is shared with other tests, and each uses its part of it"
)]

mod cluster;
#[path = "../support/http.rs"]
mod http;
#[path = "../support/instance.rs"]
mod instance;
#[path = "../support/load.rs"]
mod load;
#[path = "../../../selfsame-postgres/tests/server/server.rs"]
mod postgres_server;
#[path = "../support/replicas.rs"]
mod replicas_rig;
#[path = "../e2e/rig.rs"]
mod rig;

use std::time::{Duration, Instant};

use cluster::{Cluster, Supervision};
use load::{Load, under_load};
use replicas_rig::Replicas;

/// How long after the standby accepts writes, until the rate is what it was.
const FULL_RATE: Duration = Duration::from_secs(5);
/// How long a rate is measured, and how often: the median counts, since other suites run beside this one.
const MEASURED: Duration = Duration::from_secs(2);
const WINDOWS: usize = 5;
/// The least part of the rate before that counts as the full rate.
const FULL: f64 = 0.9;

#[test]
fn a_primary_that_is_killed_or_relieved_under_load_loses_nothing_and_full_rate_is_back_in_time() {
    let mut cluster = Cluster::start(Supervision::None);
    let replicas = Replicas::start(&cluster.url(), 2);
    under_load(&replicas.operator(), |load| {
        load.goes_on(Duration::from_secs(30));
        let usual = steady(load);
        let first = cluster.primary();
        let began = Instant::now();
        cluster.kill(first);
        cluster.until_primary(1 - first);
        // The former primary comes back meanwhile, as the standby.
        cluster.run(first);
        is_back(load, "fail-over", began, usual);
        cluster.until_synchronous();
        let began = Instant::now();
        cluster.switch_over(1 - first, first);
        cluster.until_primary(first);
        is_back(load, "switchover", began, usual);
    });
}

#[test]
fn a_server_whose_patroni_is_killed_alone_stops_with_it_and_is_never_a_second_primary() {
    let cluster = Cluster::start(Supervision::Together);
    let replicas = Replicas::start(&cluster.url(), 2);
    under_load(&replicas.operator(), |load| {
        load.goes_on(Duration::from_secs(30));
        let first = cluster.primary();
        cluster.kill_patroni(first);
        let began = Instant::now();
        while cluster.accepts_writes(first) {
            assert!(began.elapsed() < FULL_RATE, "the server goes on alone");
        }
        cluster.until_primary(1 - first);
        assert!(!cluster.accepts_writes(first));
        load.goes_on(Duration::from_secs(30));
    });
}

/// Five seconds after a server took the other's place, people are served as before.
fn is_back(load: &Load<'_>, what: &str, began: Instant, usual: f64) {
    let taken = began.elapsed();
    let (before, served) = (load.done(), Instant::now());
    while load.done() == before {
        assert!(served.elapsed() < FULL_RATE, "nothing after the {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
    let first = served.elapsed();
    std::thread::sleep(FULL_RATE.saturating_sub(first));
    let rate = steady(load);
    println!(
        "{what}: {taken:.1?}, first flow after another {first:.1?}; {usual:.0} flows a second before, {rate:.0} after"
    );
    assert!(rate > FULL * usual, "{rate:.1} after {usual:.1}");
}

/// Flows a second.
fn steady(load: &Load<'_>) -> f64 {
    let mut rates: Vec<f64> = (0..WINDOWS).map(|_| load.rate(MEASURED)).collect();
    rates.sort_by(f64::total_cmp);
    rates[WINDOWS / 2]
}
