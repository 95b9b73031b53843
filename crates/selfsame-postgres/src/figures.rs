//! Metrics of the database, which the process's recorder collects.

use std::time::Duration;

use deadpool_postgres::Pool;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

const WAIT: &str = "selfsame_database_wait_seconds";
const OPEN: &str = "selfsame_database_connections";
const IDLE: &str = "selfsame_database_connections_idle";
const QUEUE: &str = "selfsame_database_commits_queued";
const AGAIN: &str = "selfsame_database_commits_again_total";
const SEATS: &str = "selfsame_database_places_lost_total";

/// Describes the metrics, for their readers.
pub(crate) fn describe() {
    describe_histogram!(WAIT, "Time that a read waited for a connection.");
    describe_gauge!(OPEN, "Open connections for reading.");
    describe_gauge!(IDLE, "Open connections for reading that no read uses.");
    describe_gauge!(QUEUE, "Commits that wait for the writer.");
    describe_counter!(
        AGAIN,
        "Transactions done again, by cause: a lost race, or a lost connection."
    );
    describe_counter!(
        SEATS,
        "How often this process was silent for so long that its place was given away."
    );
}

/// Notes that a read got a connection, or none, after this time.
pub(crate) fn waited(pool: &Pool, time: Duration) {
    let status = pool.status();
    histogram!(WAIT).record(time);
    gauge!(OPEN).set(status.size as f64);
    gauge!(IDLE).set(status.available as f64);
}

/// Notes how many commits wait.
pub(crate) fn queued(commits: usize) {
    gauge!(QUEUE).set(commits as f64);
}

/// Notes that a transaction is done again.
pub(crate) fn again(cause: &'static str) {
    counter!(AGAIN, "cause" => cause).increment(1);
}

/// Notes that the place of this process was given away.
pub(crate) fn unseated() {
    counter!(SEATS).increment(1);
}
