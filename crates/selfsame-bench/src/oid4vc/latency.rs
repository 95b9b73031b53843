//! The latency of one user, for each method of the issuer's DID.

use std::time::Instant;

use super::resolver::FakeResolver;
use super::{Oid4vcBench, Stage, users};
use crate::Error;
use crate::flow;
use crate::report::Figure;
use crate::statistics::Sample;

/// The study's means on its PC, in milliseconds, for issuance and verification; `None` if it does not print them.
const STUDY: [(&str, Option<f64>, Option<f64>); 5] = [
    ("key", None, None),
    ("jwk", Some(110.0), Some(70.0)),
    ("web", None, None),
    ("selfsame", None, None),
    // The study's ledger: did:cheqd behind a public Universal Resolver.
    ("cheqd", Some(3100.0), Some(2430.0)),
];

/// Measures issuance and verification for each method.
pub async fn measure(bench: &mut Oid4vcBench<'_>) -> Result<(), Error> {
    for (method, study_issue, study_verify) in STUDY {
        let (issue, verify, note) = if method == "cheqd" {
            let resolver = FakeResolver::start().await?;
            let stage = resolver.stage(bench, "latency-cheqd").await?;
            let (issue, verify) = repeat(bench, stage, method, flow::STUDY_FORMAT).await?;
            let note = format!(
                "resolver's delay {} ms, asked {} times",
                super::resolver::DELAY.as_millis(),
                resolver.asked()
            );
            (issue, verify, Some(note))
        } else {
            let settings = format!("[issuer]\ndid_method = \"{method}\"\nissuer_did = \"own\"\n");
            let stage = bench.stage(&format!("latency-{method}"), &settings).await?;
            let (issue, verify) = repeat(bench, stage, method, flow::STUDY_FORMAT).await?;
            (issue, verify, None)
        };
        push(
            bench,
            &format!("latency_ms_{method}_issue"),
            &issue,
            study_issue,
            note.as_deref(),
        );
        push(
            bench,
            &format!("latency_ms_{method}_verify"),
            &verify,
            study_verify,
            note.as_deref(),
        );
    }
    let stage = bench.stage("latency-sd-jwt", "").await?;
    let (issue, verify) = repeat(bench, stage, "dc+sd-jwt", "dc+sd-jwt").await?;
    push(bench, "latency_ms_sd_jwt_issue", &issue, None, None);
    push(bench, "latency_ms_sd_jwt_verify", &verify, None, None);
    Ok(())
}

/// Measures 1 to 40 users whose issuer has the DID of a ledger, behind a resolver that is late.
pub async fn measure_users(bench: &mut Oid4vcBench<'_>) -> Result<(), Error> {
    let resolver = FakeResolver::start().await?;
    let mut stage = resolver.stage(bench, "users-cheqd").await?;
    users::measure(bench, &mut stage, users::LEDGER).await
}

#[expect(clippy::disallowed_methods, reason = "latency is what is measured")]
async fn repeat(
    bench: &Oid4vcBench<'_>,
    mut stage: Stage,
    name: &str,
    format: &str,
) -> Result<(Sample, Sample), Error> {
    stage.people(1, bench.progress).await?;
    let repetitions = bench.plan.latency_repetitions;
    bench
        .progress
        .begin(&format!("latency with {name}"), repetitions as u64);
    let (operator, person) = (stage.operator(), stage.people[0].as_str());
    let (mut issue, mut verify) = (Sample::default(), Sample::default());
    for _ in 0..repetitions {
        let began = Instant::now();
        flow::issue(&stage.client, operator, person, format).await?;
        issue.add(began.elapsed());
        let began = Instant::now();
        flow::verify(&stage.client, operator, person, format).await?;
        verify.add(began.elapsed());
        bench.progress.advance(1);
    }
    Ok((issue, verify))
}

fn push(
    bench: &mut Oid4vcBench<'_>,
    name: &str,
    sample: &Sample,
    study: Option<f64>,
    note: Option<&str>,
) {
    // The study gives means, and so does this bench.
    let mut figure = Figure::new(name, sample.mean(), "ms").spread(sample.deviation());
    if let Some(study) = study {
        figure = figure.study(study);
    }
    if let Some(note) = note {
        figure = figure.note(note);
    }
    bench.figures.push(figure);
}
