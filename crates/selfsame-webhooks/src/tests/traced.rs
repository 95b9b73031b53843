//! Deliveries in traces.

use std::sync::{Arc, Mutex, PoisonError};

use selfsame_core::events::EventKind;
use selfsame_traces::{Delivered, Sampling, TracedService, Tracer, install};
use serde_json::Value;
use tokio::sync::watch;

use super::receiver::{Receiver, ReceiverAnswer};
use super::world::{World, eventually};

/// The spans that were exported so far.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Value>>>);

impl Spans {
    fn add(&self, body: &[u8]) {
        let body: Value = serde_json::from_slice(body).unwrap();
        let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(spans.as_array().unwrap().iter().cloned());
    }

    /// Those of a trace.
    fn of(&self, trace: &Value) -> Vec<Value> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().filter(|span| span["traceId"] == *trace);
        found.cloned().collect()
    }
}

fn named(spans: &[Value], name: &str) -> Vec<Value> {
    let found = spans.iter().filter(|span| span["name"] == name);
    found.cloned().collect()
}

#[tokio::test]
async fn each_attempt_is_below_the_request_that_told_the_event() {
    let service = TracedService {
        name: "toy".to_owned(),
        version: "0",
    };
    let (tracer, exporter) = Tracer::new(service, Sampling::ALL, Box::new(|_| false));
    install(tracer.clone());
    // Other tests of this process are traced too from now on.
    let spans = Spans::default();
    let (kept, (stop, stopped)) = (spans.clone(), watch::channel(false));
    let exporting = tokio::spawn(exporter.run(stopped, move |body: Vec<u8>| {
        kept.add(&body);
        async { Delivered::Taken { rejected: 0 } }
    }));
    let receiver = Receiver::start(vec![ReceiverAnswer::Status(500)]).await;
    let world = World::of(&[&receiver]).await;
    world.endpoint(&receiver).await;
    let request = tracer.request(None, || "POST /revoke".to_owned());
    let trace = Value::from(request.context().unwrap().trace.to_string());
    let above = Value::from(request.context().unwrap().span.to_string());
    request
        .run(world.tell(EventKind::StatusChanged, "the-subject"))
        .await;
    world.pass_until(|| receiver.confirmed().len() == 1).await;
    let both = |name: &str| named(&spans.of(&trace), name).len() == 2;
    eventually(|| both("webhook delivery") && both("call")).await;
    let own = spans.of(&trace);
    let deliveries = named(&own, "webhook delivery");
    assert_eq!(deliveries.len(), 2, "{own:#?}");
    for delivery in &deliveries {
        assert_eq!(
            (&delivery["parentSpanId"], &delivery["kind"]),
            (&above, &5.into())
        );
        let is_below = |call: &Value| call["parentSpanId"] == delivery["spanId"];
        assert!(named(&own, "call").iter().any(is_below), "{own:#?}");
    }
    assert_eq!(deliveries[0]["status"]["code"], 2);
    assert_ne!(deliveries[1]["status"]["code"], 2);
    let said = serde_json::to_string(&own).unwrap();
    assert!(
        !said.contains("the-subject") && !said.contains("msg_"),
        "{said}"
    );
    stop.send_replace(true);
    exporting.await.unwrap();
}
