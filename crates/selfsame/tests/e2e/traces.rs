//! Traces in a real OpenTelemetry Collector: one flow through several processes is one trace, which tells nothing of
//! whom it is about.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::collector::{CollectedSpan, Collector};
use crate::foreign::Holder;
use crate::instance::{Instance, free_port};
use crate::postgres_server::Server;
use crate::replicas_rig::Replicas;
use crate::rig::{items, offer, person, text, write_private};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const ABOVE: &str = "b7ad6b7169203331";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn of<'a>(spans: &'a [CollectedSpan], trace: &str) -> Vec<&'a CollectedSpan> {
    spans.iter().filter(|span| span.trace == trace).collect()
}

fn named<'a>(spans: &[&'a CollectedSpan], name: &str) -> Option<&'a CollectedSpan> {
    spans.iter().copied().find(|span| span.name == name)
}

fn instances(spans: &[&CollectedSpan]) -> usize {
    let instances: BTreeSet<&str> = spans.iter().map(|span| &*span.instance).collect();
    instances.len()
}

/// Each span but the first is below another one of its trace.
fn assert_whole(spans: &[&CollectedSpan], first: &str) {
    let ids: BTreeSet<&str> = spans.iter().map(|span| &*span.id).collect();
    assert_eq!(ids.len(), spans.len(), "a span came twice");
    let lost = spans
        .iter()
        .find(|span| span.parent != first && !ids.contains(&*span.parent));
    assert!(lost.is_none(), "{lost:?} is below nothing of {spans:#?}");
}

#[test]
#[ignore = "needs the OpenTelemetry Collector, built with Go: cargo xtask test runs it"]
fn a_flow_through_several_replicas_is_one_trace_that_tells_of_no_one() {
    let collector = Collector::start(free_port());
    let environment = vec![
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint()),
        ("OTEL_SERVICE_NAME", "clinic".to_owned()),
    ];
    let replicas = Replicas::start_in(environment, &Server::shared().fresh(), 3);
    let operator = replicas.operator();
    let anna = person(&operator.with_token(""), "anna");

    // The person's own wallet, for a caller that has a trace.
    let given = offer(&operator, &json!({}));
    let accept = anna
        .request("POST", "/api/wallet/offers/accept")
        .header("traceparent", PARENT)
        .json(&json!({"offer": given["uri"]}));
    let taken = accept.send().unwrap();
    assert!(taken.is_success(), "{taken:?}");
    let card = items(&taken.json())[0].clone();

    // Another wallet, which sends nothing of traces: each request comes to the next process.
    let given = offer(&operator, &json!({}));
    let holder = Holder::of(&given, &operator.with_token(""));
    let token = holder.token();
    let credential = holder.ask(&token, &[holder.proof(&holder.nonce())]);
    assert!(credential.is_success(), "{credential:?}");

    let steps = |spans: &[CollectedSpan]| -> Vec<CollectedSpan> {
        let steps = spans
            .iter()
            .filter(|span| span.name == "step" && !span.links.is_empty());
        steps.filter(|span| span.trace != TRACE).cloned().collect()
    };
    let spans = collector.spans_until(|spans| {
        let own = of(spans, TRACE);
        named(&own, "POST /api/wallet/offers/accept").is_some()
            && named(&own, "POST /issuer/credential").is_some()
            && steps(spans).len() >= 2
    });

    let own = of(&spans, TRACE);
    assert_whole(&own, ABOVE);
    assert!(instances(&own) >= 2, "{own:#?}");
    let accept = named(&own, "POST /api/wallet/offers/accept").unwrap();
    assert_eq!((&*accept.parent, &*accept.kind), (ABOVE, "Server"));
    assert_eq!(accept.attributes["http.response.status_code"], "200");
    // A call of one process, and the request of another one that it became.
    let token_request = named(&own, "POST /issuer/token").unwrap();
    let call = own
        .iter()
        .find(|span| span.id == token_request.parent)
        .unwrap();
    assert_eq!((&*call.name, &*call.kind), ("call", "Client"));
    assert_eq!(call.attributes["server.address"], "localhost");
    for name in ["step", "store commit", "outbox delivery", "sign"] {
        assert!(named(&own, name).is_some(), "{name} is not in {own:#?}");
    }

    // The steps of the other wallet's flow are in the trace of the offer, whichever process took them.
    let steps = steps(&spans);
    let flow = of(&spans, &steps[0].trace);
    assert!(steps.iter().all(|step| step.trace == steps[0].trace));
    assert_whole(&flow, "");
    assert!(
        named(&flow, "POST /api/issuer/offers").is_some(),
        "{flow:#?}"
    );
    let machines: BTreeSet<&str> = steps
        .iter()
        .map(|step| &*step.attributes["selfsame.machine"])
        .collect();
    assert_eq!(machines, BTreeSet::from(["grant", "offer"]));
    assert!(instances(&flow) >= 2, "{flow:#?}");
    let asked = spans
        .iter()
        .find(|span| steps[0].links.contains(&span.id))
        .unwrap();
    assert_eq!(asked.kind, "Server");

    assert_tells_nothing_of(
        &collector.log(),
        &[&given, &card],
        &[&token, "anna", &text(&given, "id")],
    );
    assert!(!spans.iter().any(|span| span.name.contains("readyz")));
}

/// No claim, identifier or secret is anywhere in what the collector got.
fn assert_tells_nothing_of(log: &str, values: &[&Value], further: &[&str]) {
    let mut secrets: Vec<String> = further.iter().map(|text| (*text).to_owned()).collect();
    for value in values {
        texts(value, &mut secrets);
    }
    // Words of the code, such as a format or a type, may be there.
    secrets.retain(|text| text.len() > 7 && !text.starts_with("immunization"));
    assert!(secrets.len() > 5, "{secrets:?}");
    for secret in secrets {
        assert!(!log.contains(&secret), "`{secret}` is in a trace");
    }
}

/// All texts in a value.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
#[ignore = "needs the OpenTelemetry Collector, built with Go: cargo xtask test runs it"]
fn a_collector_that_comes_later_gets_the_traces_and_its_absence_holds_up_no_request() {
    let port = free_port();
    let folder = tempfile::tempdir().unwrap();
    let headers = folder.path().join("headers");
    write_private(&headers, "X-Token: secret\n");
    let settings = folder.path().join("selfsame.toml");
    let text = format!(
        "[traces]\nendpoint = \"http://127.0.0.1:{port}\"\nservice_name = \"clinic\"\nheaders_file = \"headers\"\n"
    );
    std::fs::write(&settings, text).unwrap();
    let settings = settings.to_str().unwrap();
    let data = folder.path().join("data");
    let mut instance = Instance::start(&data, free_port(), &["--config", settings]);
    instance.ready();
    let operator = instance.operator();
    offer(&operator, &json!({}));
    let collector = Collector::start(port);
    let spans = collector.spans_until(|spans| {
        let spans: Vec<_> = spans.iter().collect();
        named(&spans, "POST /api/issuer/offers").is_some()
    });
    assert!(spans.iter().all(|span| !span.trace.is_empty()));
    assert!(collector.log().contains("service.name: Str(clinic)"));
    let figures = operator.send("GET", "/metrics", None).unwrap();
    let figures = String::from_utf8(figures.body).unwrap();
    assert!(
        figures.contains("selfsame_traces_exported_total"),
        "{figures}"
    );
    assert!(!instance.log().contains("secret"));
}

#[test]
fn traces_that_can_t_go_anywhere_are_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("selfsame.toml");
    for (text, wrong) in [
        (
            "endpoint = \"http://localhost:4318\"\nratio = 2.0\n",
            "[traces] ratio",
        ),
        ("endpoint = \"ftp://localhost/\"\n", "collector"),
        (
            "endpoint = \"http://localhost:4318\"\ntrusted_callers = [\"me\"]\n",
            "trusted_callers",
        ),
        (
            "endpoint = \"http://localhost:4318\"\nheaders_file = \"absent\"\n",
            "absent",
        ),
        ("collector = \"http://localhost:4318\"\n", "unknown field"),
    ] {
        std::fs::write(&settings, format!("[traces]\n{text}")).unwrap();
        let mut command = crate::rig::selfsame();
        command.args(["up", "--no-demo", "--listen", "127.0.0.1:0", "--config"]);
        command
            .arg(&settings)
            .arg("--data")
            .arg(folder.path().join("data"));
        let (code, _, said) = crate::rig::run(&mut command);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(wrong), "{said}");
    }
}
