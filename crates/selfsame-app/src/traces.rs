//! Traces of this process, given to a collector.

use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::SecretString;
use selfsame_driver::{Error, Result};
use selfsame_net::{
    Authorization, Body, Call, CallHeader, CallLimits, Method, Net, NetError, Request, Response,
    Settings,
};
use selfsame_traces::{Callers, Delivered, Sampling, Stamp, TracedService, Tracer};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use url::Url;

use crate::App;

/// The path of traces below a collector's base URL (OTLP/HTTP).
const PATH: &str = "v1/traces";
const LIMITS: CallLimits = CallLimits {
    max_body: 64 * 1024,
    total_timeout: Duration::from_secs(10),
};
/// The purpose of the key of the stamp.
const STAMP: &str = "traces";

/// Where traces go, and which are recorded.
pub struct TracesConfig {
    /// The base URL of the collector, such as `http://localhost:4318/`.
    pub endpoint: Url,
    /// The name of this service in the traces.
    pub service: String,
    /// Which traces that begin here are recorded.
    pub sampling: Sampling,
    /// What the collector wants to know callers by.
    pub headers: Vec<CollectorHeader>,
    /// The callers whose trace contexts are believed.
    pub callers: Callers,
    /// DER certificates that are trusted in addition to the system's.
    pub roots: Vec<Vec<u8>>,
}

/// A header of each request to the collector.
pub struct CollectorHeader {
    /// The name, in lower case.
    pub name: String,
    /// The value, such as a token.
    pub value: SecretString,
}

/// The exporter of a process.
pub struct Traces {
    stopping: watch::Sender<bool>,
    exporting: JoinHandle<()>,
}

/// The collector, as the exporter calls it.
struct Collector {
    net: Net,
    url: Url,
    headers: Vec<CollectorHeader>,
}

impl Traces {
    /// Turns tracing on in this process, and starts to export.
    ///
    /// # Errors
    /// If the client of the collector can't be made.
    pub fn start(config: TracesConfig) -> Result<Self> {
        let collector = Arc::new(Collector::new(
            config.endpoint,
            config.headers,
            config.roots,
        )?);
        let service = TracedService {
            name: config.service,
            version: env!("CARGO_PKG_VERSION"),
        };
        let (tracer, exporter) = Tracer::new(service, config.sampling, config.callers);
        describe();
        selfsame_traces::install(tracer);
        let (stopping, stops) = watch::channel(false);
        let send = move |body| {
            let collector = Arc::clone(&collector);
            async move { collector.take(body).await }
        };
        let exporting = tokio::spawn(exporter.run(stops, send));
        Ok(Self {
            stopping,
            exporting,
        })
    }

    /// Exports what is left, within three seconds, and ends.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        // An error means that the exporter has crashed, which the log has told.
        let _ = self.exporting.await;
    }
}

impl App {
    /// Lets processes on these records know each other's trace contexts, if tracing is on.
    pub(crate) async fn stamp_traces(&self) -> Result<()> {
        let Some(tracer) = selfsame_traces::tracer() else {
            return Ok(());
        };
        let key = self.shared.instance_key(STAMP).await?.mac_key();
        tracer.set_stamp(Stamp::new(move |text| {
            let mut code = [0; 16];
            code.iter_mut()
                .zip(key.mac(text))
                .for_each(|(to, from)| *to = from);
            code
        }));
        Ok(())
    }
}

impl Collector {
    /// It has a client of its own: an issuer's or a verifier's URL must not lead to the collector.
    fn new(endpoint: Url, headers: Vec<CollectorHeader>, roots: Vec<Vec<u8>>) -> Result<Self> {
        let mut url = endpoint.clone();
        let base = endpoint.path().trim_end_matches('/');
        url.set_path(&format!("{base}/{PATH}"));
        let settings = Settings {
            own_origins: vec![url.origin()],
            extra_roots: roots,
            max_idle: 1,
            ..Settings::default()
        };
        let net = Net::new(settings).map_err(Error::internal)?;
        Ok(Self { net, url, headers })
    }

    async fn take(&self, body: Vec<u8>) -> Delivered {
        let headers: Vec<_> = self.headers.iter().map(CollectorHeader::of_call).collect();
        let call = Call {
            method: Method::Post,
            url: &self.url,
            body: Body::Json(body),
            authorization: Authorization::None,
            request: Request {
                limits: Some(LIMITS),
                headers: &headers,
                ..Request::default()
            },
        };
        delivered(self.net.call(call).await)
    }
}

impl CollectorHeader {
    fn of_call(&self) -> CallHeader<'_> {
        CallHeader {
            name: &self.name,
            value: self.value.expose(),
        }
    }
}

/// What a collector's answer means (OTLP/HTTP, "Response").
fn delivered(answer: std::result::Result<Response, NetError>) -> Delivered {
    match answer {
        Ok(response) if response.is_success() => Delivered::Taken {
            rejected: rejected(&response.body),
        },
        Ok(response) if matches!(response.status, 429 | 502 | 503 | 504) => {
            Delivered::Later(response.retry_after)
        }
        Ok(response) => Delivered::Refused(response.status),
        Err(error) => {
            tracing::debug!(%error, "the collector of traces does not answer");
            Delivered::Later(None)
        }
    }
}

/// The number of refused spans: a number, or text as JSON has 64-bit numbers of Protocol Buffers.
fn rejected(body: &[u8]) -> u64 {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    match &body["partialSuccess"]["rejectedSpans"] {
        Value::String(text) => text.parse().unwrap_or(0),
        number => number.as_u64().unwrap_or(0),
    }
}

fn describe() {
    metrics::describe_counter!(
        "selfsame_traces_exported_total",
        "Spans that the collector has taken."
    );
    metrics::describe_counter!(
        "selfsame_traces_dropped_total",
        "Spans that were dropped, by cause."
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_traces_is_appended_to_the_base_of_the_collector() {
        for (base, url) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            (
                "https://a.example/otlp/",
                "https://a.example/otlp/v1/traces",
            ),
        ] {
            let collector = Collector::new(base.parse().unwrap(), Vec::new(), Vec::new());
            assert_eq!(collector.unwrap().url.as_str(), url);
        }
    }

    #[test]
    fn spans_that_a_collector_rejects_are_counted_in_either_form() {
        assert_eq!(rejected(br#"{"partialSuccess":{"rejectedSpans":"7"}}"#), 7);
        assert_eq!(rejected(br#"{"partialSuccess":{"rejectedSpans":7}}"#), 7);
        for none in [&b"{}"[..], b"", br#"{"partialSuccess":{}}"#, b"[]"] {
            assert_eq!(rejected(none), 0);
        }
    }
}
