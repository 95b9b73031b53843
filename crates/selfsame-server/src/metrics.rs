//! The process's metrics, in Prometheus format.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use selfsame_app::App;

/// Upper bounds of the latency buckets, in seconds.
const LATENCIES: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0,
];

/// Renders the metrics.
#[derive(Clone)]
pub struct Figures(PrometheusHandle);

impl Figures {
    /// The process's recorder, installed at the first call. Metrics recorded before that are lost.
    pub fn install() -> Self {
        static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
        Self(HANDLE.get_or_init(recorder).clone())
    }

    /// Sets the metrics that are looked up on each reading rather than counted as they happen.
    pub async fn note(&self, app: &App) {
        let (commits, took) = app.commits();
        metrics::counter!("selfsame_store_commits_total").absolute(commits);
        // Counters of this library are integers.
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        metrics::counter!("selfsame_store_commits_microseconds_total").absolute(took);
        // A store that cannot be read shows in the requests that fail.
        if let Ok((waiting, dead)) = app.outbox().await {
            metrics::gauge!("selfsame_outbox_waiting").set(waiting as f64);
            metrics::gauge!("selfsame_outbox_dead").set(dead as f64);
        }
        let damaged = f64::from(u8::from(app.is_damaged()));
        metrics::gauge!("selfsame_registry_damaged").set(damaged);
        let doubts = app
            .times()
            .is_some_and(|times| times.view().doubt.is_some());
        let doubted = f64::from(u8::from(doubts));
        metrics::gauge!("selfsame_registry_clock_doubted").set(doubted);
        for one in app.misbehaviour() {
            metrics::counter!(
                "selfsame_registry_misbehaviour_total",
                "validator" => one.validator, "kind" => one.kind
            )
            .absolute(one.count);
        }
        for witness in app.witnesses() {
            let answers = [
                ("cosigned", witness.cosigned),
                ("refused", witness.refused),
                ("none", witness.silent),
            ];
            for (answer, count) in answers {
                metrics::counter!(
                    "selfsame_registry_witness_answers_total",
                    "witness" => witness.name.clone(), "answer" => answer
                )
                .absolute(count);
            }
        }
    }

    /// The text of `/metrics`.
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Folds recorded samples into the buckets, for ever. Without it raw samples pile up between readings.
    pub async fn keep_up(self) {
        let mut tick = tokio::time::interval(Duration::from_secs(5));
        loop {
            tick.tick().await;
            self.0.run_upkeep();
        }
    }
}

fn recorder() -> PrometheusHandle {
    let builder = PrometheusBuilder::new();
    let builder =
        match builder.set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &LATENCIES) {
            Ok(builder) => builder,
            Err(_no_buckets) => PrometheusBuilder::new(),
        };
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    if metrics::set_global_recorder(recorder).is_err() {
        tracing::warn!("another recorder is installed; /metrics stays empty");
    }
    describe();
    handle
}

fn describe() {
    metrics::describe_counter!(
        "selfsame_http_requests_total",
        "Requests answered, by route, method and status."
    );
    metrics::describe_histogram!("selfsame_http_request_seconds", "Time to answer, by route.");
    metrics::describe_gauge!("selfsame_http_in_flight", "Requests being answered.");
    metrics::describe_counter!(
        "selfsame_http_turned_away_total",
        "Requests refused because a budget was used up, by budget."
    );
    metrics::describe_gauge!("selfsame_connections_open", "Open connections.");
    metrics::describe_counter!(
        "selfsame_connections_refused_total",
        "Connections refused because all places were taken."
    );
    metrics::describe_counter!("selfsame_store_commits_total", "Durable commits.");
    metrics::describe_counter!(
        "selfsame_store_commits_microseconds_total",
        "Time spent in durable commits."
    );
    metrics::describe_gauge!("selfsame_outbox_waiting", "Calls waiting for delivery.");
    metrics::describe_gauge!("selfsame_outbox_dead", "Calls given up.");
    metrics::describe_gauge!(
        "selfsame_registry_damaged",
        "Whether damage of the registry's ledger was found since the start."
    );
    metrics::describe_gauge!(
        "selfsame_registry_clock_doubted",
        "Whether the registry writes nothing because nothing confirms the clock."
    );
    metrics::describe_counter!(
        "selfsame_registry_misbehaviour_total",
        "Evidence in the network's blocks against its validators, by validator and what it did last."
    );
    metrics::describe_counter!(
        "selfsame_registry_witness_answers_total",
        "Checkpoints shown to each witness of the registry that runs here, by its answer."
    );
}
