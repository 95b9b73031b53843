//! Many tenants on one bounded pool of connections, beside one.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::organisations::data::{self, TYPE};
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;

use crate::StoreBench;
use crate::pairs::{Issuers, Placed, USERS, ratios};

/// Measures pairs over one organisation and over all, in turns, on one server with ten connections.
pub async fn measure(bench: &mut StoreBench<'_>) -> Result<(), Error> {
    let (placed, _) = Placed::in_a_schema(bench, "tenants");
    let served = placed.serve(bench, USERS).await?;
    let count = bench.plan.tenants;
    data::create(&served.site, count, bench.progress).await?;
    bench.progress.begin("publishing types", count as u64);
    let below: Vec<String> = (0..count).map(data::below).collect();
    for path in &below {
        data::publish(&served.site, path).await?;
        bench.progress.advance(1);
    }
    let one = Issuers {
        below: below.first().cloned().into_iter().collect(),
        kind: TYPE,
    };
    let all = Issuers { below, kind: TYPE };
    // The first pair of an organisation opens its keys and makes its first status list.
    bench.progress.begin("first pairs", 1);
    for place in 0..count.div_ceil(USERS) {
        let some = all.below.iter().skip(place * USERS).take(USERS);
        let some = Issuers {
            below: some.cloned().collect(),
            kind: TYPE,
        };
        let users = some.below.len();
        served
            .pairs_s(users, Duration::from_millis(1), &some)
            .await?;
    }
    bench
        .progress
        .begin("pairs over organisations", bench.plan.rounds as u64);
    let mut rates = [Sample::default(), Sample::default()];
    for _ in 0..bench.plan.rounds {
        for (at, rates) in [&one, &all].into_iter().zip(&mut rates) {
            rates.push(served.pairs_s(USERS, bench.plan.rate_for, at).await?);
        }
        bench.progress.advance(1);
    }
    let [one, all] = &rates;
    let ratios = ratios(all, one);
    let note = format!("over {count} organisations, on 10 connections");
    bench.figures.push(
        Figure::new("tenants_ratio_1000", ratios.median(), "")
            .spread(ratios.range())
            .bar(Bar::AtLeast(0.9))
            .note(note),
    );
    Ok(())
}
