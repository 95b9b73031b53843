//! Clients that write at the same time, and their measurements.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use selfsame_registry::Genesis;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::cluster::{Actor, Cluster, GONE, Nodes, until};
use crate::told::Told;

/// The time in which an undisturbed network on an idle machine takes 99 of 100 writes.
const FREE: Duration = Duration::from_millis(300);

/// Running clients. Each writes one transaction after the other, and moves to the next node if its own is gone.
pub struct Load {
    begun: Instant,
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Vec<Written>>>,
    told: Arc<Told>,
}

struct Client {
    genesis: Genesis,
    nodes: Nodes,
    stop: Arc<AtomicBool>,
    told: Arc<Told>,
}

/// One transaction as its client saw it.
struct Written {
    took: Duration,
    acknowledged: Instant,
    /// The errors of running nodes that answered instead of a receipt.
    failed: Vec<String>,
}

/// The measurements of a load.
pub struct Figures {
    pub writes: usize,
    pub p50: Duration,
    pub p99: Duration,
    /// The longest time without any acknowledgement.
    pub stall: Duration,
    pub failed: Vec<String>,
    pub took: Duration,
}

impl Load {
    /// Starts clients; the first uses the first of these nodes, the next one the next.
    pub fn start(cluster: &Cluster, (clients, at): (usize, &[usize]), told: &Arc<Told>) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let client = |n: usize| {
            let client = Client {
                genesis: cluster.genesis.clone(),
                nodes: cluster.nodes.clone(),
                stop: stop.clone(),
                told: told.clone(),
            };
            tokio::spawn(client.run(at[n % at.len()]))
        };
        Self {
            begun: Instant::now(),
            clients: (0..clients).map(client).collect(),
            told: told.clone(),
            stop,
        }
    }

    /// Waits until this many more writes are acknowledged.
    pub async fn writes(&self, count: usize) -> Duration {
        let enough = self.told.count() + count;
        until("the load is taken", async || self.told.count() >= enough).await
    }

    /// Runs eight clients on four undisturbed nodes.
    pub async fn undisturbed(cluster: &Cluster, told: &Arc<Told>) -> Figures {
        let load = Self::start(cluster, (8, &[0, 1, 2, 3]), told);
        load.writes(80).await;
        let figures = load.stop().await;
        figures.print("undisturbed");
        figures
    }

    /// Lets each client finish its write, then stops.
    pub async fn stop(self) -> Figures {
        self.stop.store(true, Ordering::Relaxed);
        let mut written = Vec::new();
        for client in self.clients {
            written.extend(client.await.unwrap());
        }
        Figures::of(self.begun, written)
    }
}

impl Client {
    async fn run(self, mut at: usize) -> Vec<Written> {
        let mut written = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            written.push(self.write(&mut at).await);
        }
        written
    }

    async fn write(&self, at: &mut usize) -> Written {
        let transaction = Actor::new(&self.genesis).create();
        let (begun, mut failed) = (Instant::now(), Vec::new());
        loop {
            let answer = match self.nodes.get(*at) {
                Some(node) => node.submit(&transaction).await,
                None => Err(GONE.to_owned()),
            };
            match answer {
                Ok(receipt) => {
                    self.told.keep(&transaction, &receipt);
                    return Written {
                        took: begun.elapsed(),
                        acknowledged: Instant::now(),
                        failed,
                    };
                }
                Err(reason) if reason == GONE => {
                    *at = (*at + 1) % self.nodes.count();
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Err(reason) => {
                    failed.push(reason);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

impl Figures {
    fn of(begun: Instant, written: Vec<Written>) -> Self {
        let mut took: Vec<Duration> = written.iter().map(|written| written.took).collect();
        took.sort_unstable();
        let mut times: Vec<Instant> = written.iter().map(|one| one.acknowledged).collect();
        times.push(begun);
        times.sort_unstable();
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        let of_hundred = |n: usize| took[(took.len() * n / 100).min(took.len() - 1)];
        Self {
            writes: took.len(),
            p50: of_hundred(50),
            p99: of_hundred(99),
            stall: gaps.max().unwrap(),
            took: *times.last().unwrap() - begun,
            failed: written.into_iter().flat_map(|one| one.failed).collect(),
        }
    }

    /// The excess of an undisturbed network's time over that on an idle machine.
    pub fn slower_than_free(&self) -> Duration {
        self.p99.saturating_sub(FREE)
    }

    /// Figures for tests, with only the 99th percentile set, in milliseconds.
    pub fn of_p99(milliseconds: u64) -> Self {
        let took = Duration::from_millis(milliseconds);
        let begun = Instant::now();
        let written = Written {
            took,
            acknowledged: begun,
            failed: Vec::new(),
        };
        Self::of(begun, vec![written])
    }

    /// Writes a second.
    pub fn rate(&self) -> f64 {
        self.writes as f64 / self.took.as_secs_f64()
    }

    /// Prints the figures to the test's output.
    #[allow(clippy::disallowed_macros, reason = "a test's figures")]
    pub fn print(&self, what: &str) {
        eprintln!("{what}: {self}");
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "{} writes, {:.0}/s, p50 {} ms, p99 {} ms, longest stall {} ms, {} failed",
            self.writes,
            self.rate(),
            self.p50.as_millis(),
            self.p99.as_millis(),
            self.stall.as_millis(),
            self.failed.len()
        )
    }
}
