//! Pairs of issuance and verification over 1, 100 and 1,000 organisations in turn.

use std::time::Instant;

use super::OrganisationsBench;
use super::data::{OrganisationsData, TYPE, below, publish, rate};
use crate::Error;
use crate::flow::{self, Operator};
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// The numbers of organisations, as the figures name them.
const NAMED: [&str; 3] = ["1", "100", "1000"];

/// What was measured over one number of organisations, in all rounds.
#[derive(Default)]
struct Spread {
    pairs_s: Sample,
    rss_mb: Sample,
}

/// Measures all rounds. Each number of organisations has a server of its own in each round, so that none inherits
/// another one's memory.
pub async fn measure(
    bench: &mut OrganisationsBench<'_>,
    data: &OrganisationsData,
) -> Result<(), Error> {
    let site = data.start(bench, None).await?;
    let [.., most] = bench.plan.spread();
    bench.progress.begin("publishing types", most as u64);
    for number in 0..most {
        publish(&site, &below(number)).await?;
        bench.progress.advance(1);
    }
    drop(site);
    let mut found: [Spread; 3] = Default::default();
    for round in 0..bench.plan.rounds {
        for (spread, count) in found.iter_mut().zip(bench.plan.spread()) {
            let person = round * 10_000 + count;
            measure_over(bench, data, Over { count, person }, spread).await?;
        }
    }
    for (name, spread) in NAMED.iter().zip(&found) {
        let pairs = Figure::of(format!("pairs_s_{name}"), &spread.pairs_s, "pairs/s");
        bench.push(pairs);
        let rss = Figure::of(format!("rss_mb_{name}"), &spread.rss_mb, "MB");
        bench.push(rss);
    }
    let [one, _, thousand] = &found;
    let pairs = thousand.pairs_s.ratios_to(&one.pairs_s);
    let rss = thousand.rss_mb.ratios_to(&one.rss_mb);
    bench.push(Figure::of("pairs_ratio_1000", &pairs, "").bar(Bar::AtLeast(0.9)));
    bench.push(Figure::of("rss_ratio_1000", &rss, "").bar(Bar::AtMost(1.3)));
    Ok(())
}

/// Over how many organisations, and for which person.
#[derive(Clone, Copy)]
struct Over {
    count: usize,
    person: usize,
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn measure_over(
    bench: &OrganisationsBench<'_>,
    data: &OrganisationsData,
    over: Over,
    spread: &mut Spread,
) -> Result<(), Error> {
    let site = data.start(bench, None).await?;
    let person = flow::register(&site.client, over.person).await?;
    let paths: Vec<String> = (0..over.count).map(below).collect();
    let part = format!("pairs over {} organisations", over.count);
    bench.progress.begin(&part, over.count as u64);
    let pair = async |below: &str| -> Result<(), Error> {
        let operator = Operator {
            token: &site.server.operator,
            below,
            kind: TYPE,
        };
        flow::issue(&site.client, operator, &person, flow::STUDY_FORMAT).await?;
        flow::verify(&site.client, operator, &person, flow::STUDY_FORMAT).await
    };
    // The first pair of an organisation opens its keys and makes its first status list.
    for below in &paths {
        pair(below).await?;
        bench.progress.advance(1);
    }
    bench.progress.begin(&part, 1);
    let (began, mut pairs) = (Instant::now(), 0);
    for below in paths.iter().cycle() {
        if began.elapsed() >= bench.plan.pairs_for {
            break;
        }
        pair(below).await?;
        pairs += 1;
    }
    spread.pairs_s.push(rate(pairs, began.elapsed()));
    spread.rss_mb.push(site.server.usage().rss_mb);
    Ok(())
}
