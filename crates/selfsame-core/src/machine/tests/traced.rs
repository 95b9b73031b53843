//! The trace of a call goes on in the transport that carries the call out.

use std::sync::{Arc, Mutex};

use selfsame_traces::{Delivered, Sampling, TracedService, Tracer, install};
use serde_json::Value;
use tokio::sync::watch;

use super::{Host, KIND_HOST, World, inside};
use crate::shared::Correspondent;

#[tokio::test]
async fn a_call_that_another_process_carries_out_goes_on_with_the_trace_of_who_wrote_it() {
    let service = TracedService {
        name: "toy".to_owned(),
        version: "0",
    };
    let (tracer, exporter) = Tracer::new(service, Sampling::ALL, Box::new(|_| false));
    install(tracer.clone());
    let host = Host::saying(KIND_HOST).await;
    let world = World::of(&host).await;
    let guest: Arc<dyn Correspondent> = world.guest.clone();
    world.shared.set_correspondents([&guest].into_iter());
    let request = tracer.request(None, || "POST /visit".to_owned());
    request.run(world.begin("v")).await;
    let later = world.shared.clock.now().plus(3_600);
    for leased in world.shared.store.due(later, 10).await.unwrap() {
        world.shared.perform(&leased).await;
    }
    assert_eq!(world.state().await, inside());

    let bodies = Arc::new(Mutex::new(Vec::<Value>::new()));
    let kept = bodies.clone();
    let send = move |body: Vec<u8>| {
        kept.lock()
            .unwrap()
            .push(serde_json::from_slice(&body).unwrap());
        async { Delivered::Taken { rejected: 0 } }
    };
    exporter.run(watch::channel(true).1, send).await;
    let bodies = bodies.lock().unwrap();
    let spans = bodies.iter().flat_map(|body| {
        let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
        spans.as_array().unwrap().clone()
    });
    let spans: Vec<Value> = spans.collect();
    let named =
        |name: &str| -> Vec<&Value> { spans.iter().filter(|span| span["name"] == name).collect() };
    let request = named("POST /visit")[0];
    assert!(
        spans
            .iter()
            .all(|span| span["traceId"] == request["traceId"])
    );
    let (deliveries, steps, calls) = (named("outbox delivery"), named("step"), named("call"));
    // The first call was carried out later; the second one, by the same task, at once.
    assert_eq!(
        (deliveries.len(), steps.len(), calls.len()),
        (2, 2, 2),
        "{spans:#?}"
    );
    let resumed = deliveries
        .iter()
        .find(|span| span["parentSpanId"] == request["spanId"]);
    let resumed = resumed.unwrap();
    assert_eq!(resumed["kind"], 5);
    assert!(
        steps
            .iter()
            .any(|step| step["parentSpanId"] == resumed["spanId"])
    );
    assert!(
        calls
            .iter()
            .any(|call| call["parentSpanId"] == resumed["spanId"])
    );
    let said = serde_json::to_string(&spans).unwrap();
    assert!(!said.contains("riddle") && !said.contains("four") && !said.contains("/door"));
}
