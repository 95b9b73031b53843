//! The process's metrics, in Prometheus format.

use std::sync::OnceLock;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the latency buckets, in seconds.
const LATENCIES: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0,
];

/// Upper bounds of the buckets of flows, which wait for people, in seconds.
const AGES: [f64; 10] = [
    1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0,
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

    /// The metrics as a response.
    pub fn response(&self) -> Response {
        let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
        (kind, self.0.render()).into_response()
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
    let latencies = Matcher::Suffix("_seconds".to_owned());
    let ages = Matcher::Full("selfsame_flow_age_seconds".to_owned());
    let revoking = Matcher::Full("selfsame_revocation_seconds".to_owned());
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(latencies, &LATENCIES)
        .and_then(|builder| builder.set_buckets_for_metric(ages, &AGES))
        .and_then(|builder| builder.set_buckets_for_metric(revoking, &AGES))
        .unwrap_or_else(|_no_buckets| PrometheusBuilder::new());
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
}
