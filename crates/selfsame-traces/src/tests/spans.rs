//! The present span: across awaits, tasks, panics, and flows.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::exporting::{exported, world};
use crate::{
    Attribute, Sampling, SpanEnd, SpanKind, TraceContext, committing, continued, present, resumed,
    span,
};

fn by_name<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is not among {spans:?}"))
}

#[tokio::test]
async fn without_a_request_nothing_is_recorded() {
    let (tracer, exporter) = world(Sampling::ALL);
    drop(tracer);
    span("alone", SpanKind::Internal).run(async {}).await;
    assert_eq!(present(), None);
    assert!(continued(None, "step").context().is_none());
    assert!(exported(exporter).await.is_empty());
}

#[tokio::test]
async fn spans_are_below_the_one_that_is_present_where_they_begin() {
    let (tracer, exporter) = world(Sampling::ALL);
    let request = tracer.request(None, || "GET /a/{id}".to_owned());
    let root = request.context().unwrap();
    let work = async {
        assert_eq!(present(), Some(root));
        let outer = span("outer", SpanKind::Internal).with(|| Attribute::Machine("offer"));
        let inner = async {
            tokio::task::yield_now().await;
            span("inner", SpanKind::Client).run(async {}).await;
        };
        committing(
            3,
            outer.run(async {
                inner.await;
                Ok::<_, ()>(())
            }),
        )
        .await
        .unwrap();
        assert_eq!(present(), Some(root));
        span("second", SpanKind::Internal).run(async {}).await;
    };
    request.run(work).await;
    assert_eq!(present(), None);
    drop(tracer);
    let spans = exported(exporter).await;
    assert_eq!(spans.len(), 5);
    let (root, outer) = (by_name(&spans, "GET /a/{id}"), by_name(&spans, "outer"));
    let (inner, second) = (by_name(&spans, "inner"), by_name(&spans, "second"));
    assert!(root.get("parentSpanId").is_none());
    let commit = by_name(&spans, "store commit");
    assert_eq!(commit["parentSpanId"], root["spanId"]);
    assert_eq!(commit["attributes"][0]["value"]["intValue"], "3");
    assert_eq!(outer["parentSpanId"], root["spanId"]);
    assert_eq!(inner["parentSpanId"], outer["spanId"]);
    assert_eq!(second["parentSpanId"], root["spanId"]);
    assert!(spans.iter().all(|span| span["traceId"] == root["traceId"]));
    assert_eq!(outer["attributes"][0]["value"]["stringValue"], "offer");
    assert_eq!((&root["kind"], &inner["kind"]), (&2.into(), &3.into()));
}

#[tokio::test]
async fn tasks_beside_each_other_do_not_see_each_others_spans() {
    let (tracer, exporter) = world(Sampling::ALL);
    let tasks = (0..8).map(|number| {
        let request = tracer.request(None, || format!("request {number}"));
        let own = request.context();
        request.run(async move {
            for _ in 0..4 {
                tokio::task::yield_now().await;
                assert_eq!(present(), own);
            }
        })
    });
    let mut running = tokio::task::JoinSet::new();
    tasks.for_each(|task| drop(running.spawn(task)));
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    drop(tracer);
    assert_eq!(exported(exporter).await.len(), 8);
}

#[tokio::test]
async fn a_span_says_what_failed_and_that_it_was_cancelled() {
    let (tracer, exporter) = world(Sampling::ALL);
    tracer
        .request(None, || "failed".to_owned())
        .watch(async { Err::<(), _>("secret") }, SpanEnd::of)
        .await
        .unwrap_err();
    let endless = tracer
        .request(None, || "cancelled".to_owned())
        .run(std::future::pending::<()>());
    assert!(
        tokio::time::timeout(Duration::from_millis(5), endless)
            .await
            .is_err()
    );
    drop(tracer);
    let spans = exported(exporter).await;
    for (name, why) in [("failed", "error"), ("cancelled", "cancelled")] {
        let span = by_name(&spans, name);
        assert_eq!(span["status"]["code"], 2);
        assert_eq!(span["attributes"][0]["key"], "error.type");
        assert_eq!(span["attributes"][0]["value"]["stringValue"], why);
    }
    assert!(!format!("{spans:?}").contains("secret"));
}

#[tokio::test]
async fn after_a_panic_the_thread_has_no_present_span() {
    let (tracer, _exporter) = world(Sampling::ALL);
    let request = tracer.request(None, || "request".to_owned());
    let broken = tokio::spawn(request.run(async { panic!("broken") }));
    assert!(broken.await.is_err());
    assert_eq!(present(), None);
}

#[tokio::test]
async fn a_trace_that_is_not_recorded_is_told_on_and_stored_nowhere() {
    let (tracer, exporter) = world(Sampling::ratio(0.0).unwrap());
    let request = tracer.request(None, || "request".to_owned());
    assert!(!request.context().unwrap().is_sampled);
    request
        .run(async {
            assert_eq!(present(), None);
            span("inner", SpanKind::Internal)
                .run(async {
                    let told = crate::outgoing().unwrap();
                    assert!(told.parent.ends_with("-00"), "{told:?}");
                })
                .await;
        })
        .await;
    drop(tracer);
    assert!(exported(exporter).await.is_empty());
}

#[tokio::test]
async fn a_believed_caller_decides_whether_its_trace_is_recorded() {
    let (tracer, exporter) = world(Sampling::ratio(0.0).unwrap());
    let caller: TraceContext = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        .parse()
        .unwrap();
    let request = tracer.request(Some(caller), || "request".to_owned());
    assert_eq!(request.context().unwrap().trace, caller.trace);
    request.run(async {}).await;
    drop(tracer);
    let spans = exported(exporter).await;
    assert_eq!(spans[0]["parentSpanId"], "b7ad6b7169203331");
    assert_eq!(spans[0]["traceId"], "0af7651916cd43dd8448eb211c80319c");
}

#[tokio::test]
async fn a_stored_context_is_gone_on_with_by_whoever_reads_it() {
    let (tracer, exporter) = world(Sampling::ALL);
    crate::install(Arc::clone(&tracer));
    let request = tracer.request(None, || "POST /offers".to_owned());
    let stored = request.run(async { present() }).await;
    assert!(stored.is_some());
    // Another process resumes it, perhaps.
    resumed(stored, "delivery").run(async {}).await;
    assert!(resumed(None, "nothing").context().is_none());
    crate::begun(stored, "attempt").run(async {}).await;
    crate::begun(None, "alone").run(async {}).await;
    // A stranger's request that takes a step of the flow.
    let stranger = tracer.request(None, || "POST /token".to_owned());
    let apart = stranger.context().unwrap();
    stranger
        .run(async { continued(stored, "step").run(async {}).await })
        .await;
    // A believed caller's.
    let caller = tracer.request(Some(apart), || "POST /credential".to_owned());
    caller
        .run(async { continued(stored, "second step").run(async {}).await })
        .await;
    // The installed tracer stays, so nothing closes its queue.
    let spans = super::exporting::exported_now(exporter).await;
    let begun = by_name(&spans, "POST /offers");
    let alone = by_name(&spans, "alone");
    assert_ne!(alone["traceId"], begun["traceId"]);
    assert!(alone.get("parentSpanId").is_none());
    for (name, kind) in [("delivery", 5), ("attempt", 5), ("step", 1)] {
        let span = by_name(&spans, name);
        assert_eq!(span["parentSpanId"], begun["spanId"], "{name}");
        assert_eq!(span["traceId"], begun["traceId"], "{name}");
        assert_eq!(span["kind"], kind, "{name}");
    }
    let (token, step) = (by_name(&spans, "POST /token"), by_name(&spans, "step"));
    assert_eq!(step["links"][0]["spanId"], token["spanId"]);
    let (above, second) = (
        by_name(&spans, "POST /credential"),
        by_name(&spans, "second step"),
    );
    assert_eq!(second["parentSpanId"], above["spanId"]);
    assert_eq!(second["links"][0]["spanId"], begun["spanId"]);
}
