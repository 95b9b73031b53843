//! OTLP in JSON: spans as a collector takes them (OpenTelemetry Protocol, "JSON Protobuf Encoding": identifiers in
//! hexadecimal, 64-bit numbers as text, enumerations as numbers).

use serde_json::{Value, json};

use crate::attribute::AttributeValue;
use crate::context::TraceContext;
use crate::ended::{EndedSpan, SpanKind};

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// What names this process in its spans.
#[derive(Clone, Debug)]
pub struct TracedService {
    /// `service.name`.
    pub name: String,
    /// `service.version`.
    pub version: &'static str,
}

/// The body of a request to `/v1/traces`.
pub(crate) fn body(service: &TracedService, instance: u128, spans: &[EndedSpan]) -> Vec<u8> {
    let resource = [
        text("service.name", &service.name),
        text("service.version", service.version),
        text("service.instance.id", &uuid(instance)),
    ];
    let body = json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{
            "scope": {"name": "selfsame", "version": service.version},
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }]});
    body.to_string().into_bytes()
}

fn span(ended: &EndedSpan) -> Value {
    let mut attributes: Vec<Value> = ended
        .facts
        .attributes
        .iter()
        .map(|attribute| match attribute.value() {
            AttributeValue::Text(value) => text(attribute.name(), value),
            AttributeValue::Number(value) => number(attribute.name(), value),
        })
        .collect();
    let mut span = json!({
        "traceId": ended.context.trace.to_string(),
        "spanId": ended.context.span.to_string(),
        "name": ended.begun.name,
        "kind": kind(ended.begun.kind),
        "startTimeUnixNano": ended.begun.at.to_string(),
        "endTimeUnixNano": ended.ended.to_string(),
        "flags": u8::from(ended.context.is_sampled),
    });
    if let Some(parent) = ended.begun.parent {
        span["parentSpanId"] = Value::from(parent.to_string());
    }
    if !ended.facts.links.is_empty() {
        span["links"] = ended.facts.links.iter().map(link).collect();
    }
    if let Some(why) = ended.facts.failed {
        attributes.push(text("error.type", why));
        span["status"] = json!({"code": ERROR});
    }
    span["attributes"] = Value::from(attributes);
    span
}

fn link(to: &TraceContext) -> Value {
    json!({"traceId": to.trace.to_string(), "spanId": to.span.to_string()})
}

fn kind(kind: SpanKind) -> u8 {
    match kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
        SpanKind::Consumer => 5,
    }
}

fn text(name: &str, value: &str) -> Value {
    json!({"key": name, "value": {"stringValue": value}})
}

fn number(name: &str, value: u64) -> Value {
    json!({"key": name, "value": {"intValue": value.to_string()}})
}

/// A number as a UUID of version 4 (RFC 9562 §5.4), which `service.instance.id` should be.
fn uuid(number: u128) -> String {
    let number = number & !(0xf << 76) & !(0b11 << 62) | 4 << 76 | 0b10 << 62;
    let text = format!("{number:032x}");
    let parts = [
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..],
    ];
    parts.join("-")
}
