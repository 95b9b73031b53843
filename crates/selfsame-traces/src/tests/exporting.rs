//! The exporter: what a collector gets, a collector that is away, and a queue that is full.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use crate::switch::turn_on;
use crate::{Delivered, Exporter, Sampling, TracedService, Tracer};

/// A tracer, with tracing on.
pub(super) fn world(sampling: Sampling) -> (Arc<Tracer>, Exporter) {
    turn_on();
    let service = TracedService {
        name: "clinic".to_owned(),
        version: "1.2.3",
    };
    Tracer::new(service, sampling, Box::new(|_| false))
}

/// What an exporter sends once its tracer is gone.
pub(super) async fn exported(exporter: Exporter) -> Vec<Value> {
    let (_stop, stopping) = watch::channel(false);
    sent(exporter, stopping).await
}

/// What an exporter sends when it is stopped at once.
pub(super) async fn exported_now(exporter: Exporter) -> Vec<Value> {
    let (_stop, stopping) = watch::channel(true);
    sent(exporter, stopping).await
}

async fn sent(exporter: Exporter, stopping: watch::Receiver<bool>) -> Vec<Value> {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = bodies.clone();
    let send = move |body: Vec<u8>| {
        kept.lock().unwrap().push(body);
        async { Delivered::Taken { rejected: 0 } }
    };
    exporter.run(stopping, send).await;
    let bodies = bodies.lock().unwrap();
    bodies.iter().flat_map(|body| spans_of(body)).collect()
}

fn spans_of(body: &[u8]) -> Vec<Value> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    spans.as_array().unwrap().clone()
}

async fn spans(tracer: &Arc<Tracer>, many: usize) {
    for _ in 0..many {
        tracer
            .request(None, || "GET /".to_owned())
            .run(async {})
            .await;
    }
}

#[tokio::test]
async fn a_body_is_as_otlp_in_json_has_it() {
    let (tracer, exporter) = world(Sampling::ALL);
    spans(&tracer, 1).await;
    drop(tracer);
    let (_stop, stopping) = watch::channel(false);
    let body = Arc::new(Mutex::new(Value::Null));
    let kept = body.clone();
    let send = move |sent: Vec<u8>| {
        *kept.lock().unwrap() = serde_json::from_slice(&sent).unwrap();
        async { Delivered::Taken { rejected: 0 } }
    };
    exporter.run(stopping, send).await;
    let body = body.lock().unwrap().clone();
    let resource = &body["resourceSpans"][0];
    let attributes = resource["resource"]["attributes"].as_array().unwrap();
    let of = |name| {
        let found = attributes.iter().find(|attribute| attribute["key"] == name);
        found.unwrap()["value"]["stringValue"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (of("service.name").as_str(), of("service.version").as_str()),
        ("clinic", "1.2.3")
    );
    let instance = of("service.instance.id");
    assert_eq!((instance.len(), &instance[14..15]), (36, "4"));
    let span = &resource["scopeSpans"][0]["spans"][0];
    let length = |name| span[name].as_str().unwrap().len();
    assert_eq!((length("traceId"), length("spanId")), (32, 16));
    let time = |name| span[name].as_str().unwrap().parse::<u64>().unwrap();
    let (began, ended) = (time("startTimeUnixNano"), time("endTimeUnixNano"));
    assert!(began > 1_600_000_000_000_000_000 && ended >= began);
    assert_eq!(span["kind"], 2);
    assert_eq!(span["attributes"], Value::Array(Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn while_the_collector_is_away_it_is_tried_ever_more_rarely_and_nothing_is_lost() {
    let (tracer, exporter) = world(Sampling::ALL);
    spans(&tracer, 3).await;
    drop(tracer);
    let (_stop, stopping) = watch::channel(false);
    let (tries, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let began = tokio::time::Instant::now();
    exporter
        .run(stopping, |body| {
            let number = tries.fetch_add(1, Ordering::Relaxed);
            let count = spans_of(&body).len();
            let taken = &taken;
            async move {
                match number {
                    0..4 => Delivered::Later(None),
                    4 => Delivered::Later(Some(7)),
                    _ => {
                        taken.fetch_add(count, Ordering::Relaxed);
                        Delivered::Taken { rejected: 0 }
                    }
                }
            }
        })
        .await;
    assert_eq!((tries.into_inner(), taken.into_inner()), (6, 3));
    // 1 + 2 + 4 + 8 seconds, then those that the collector names.
    assert_eq!(began.elapsed().as_secs(), 22);
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_never_answers_is_given_up_and_holds_up_no_one() {
    let (tracer, exporter) = world(Sampling::ALL);
    // More than the queue holds; none of these waits.
    spans(&tracer, 10_000).await;
    drop(tracer);
    let (stop, stopping) = watch::channel(false);
    let tries = Arc::new(AtomicUsize::new(0));
    let tried = tries.clone();
    let exporting = tokio::spawn(exporter.run(stopping, move |_| {
        tried.fetch_add(1, Ordering::Relaxed);
        std::future::pending()
    }));
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(!exporting.is_finished());
    let tried = tries.load(Ordering::Relaxed);
    assert!((10..60).contains(&tried), "{tried}");
    let began = tokio::time::Instant::now();
    stop.send_replace(true);
    exporting.await.unwrap();
    assert!(began.elapsed() <= Duration::from_secs(4));
}

#[tokio::test]
async fn what_waits_when_the_instance_stops_is_exported() {
    let (tracer, exporter) = world(Sampling::ALL);
    spans(&tracer, 700).await;
    assert_eq!(exported_now(exporter).await.len(), 700);
    // What comes later is dropped.
    spans(&tracer, 1).await;
}

#[tokio::test]
async fn the_queue_is_bounded() {
    let (tracer, exporter) = world(Sampling::ALL);
    spans(&tracer, 9_000).await;
    drop(tracer);
    assert_eq!(exported(exporter).await.len(), 8_192);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_is_refused_for_good_is_not_tried_again() {
    let (tracer, exporter) = world(Sampling::ALL);
    spans(&tracer, 600).await;
    drop(tracer);
    let (_stop, stopping) = watch::channel(false);
    let tries = AtomicUsize::new(0);
    exporter
        .run(stopping, |_| {
            tries.fetch_add(1, Ordering::Relaxed);
            async { Delivered::Refused(400) }
        })
        .await;
    assert_eq!(tries.into_inner(), 2);
}
