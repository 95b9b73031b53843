//! Many tenants on one bounded pool of connections, beside one.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::organisations::data::{self, TYPE};

use crate::StoreBench;
use crate::pairs::{Issuers, Placed, USERS, in_turns, ratio};

/// Measures pairs over one organisation and over all, in turns, on one server with ten connections.
pub async fn measure(bench: &mut StoreBench<'_>) -> Result<(), Error> {
    let served = Placed::in_a_schema(bench, "tenants").serve(bench).await?;
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
    let (part, sides) = ("pairs over organisations", [one, all]);
    let rates = in_turns(bench, part, &sides, async |issuers| {
        let time = bench.plan.rate_for;
        served.pairs_s(USERS, time, issuers).await
    });
    let [one, all] = rates.await?;
    let note = format!("over {count} organisations, on 10 connections");
    let figure = ratio("tenants_ratio_1000", &all, &one, 0.9);
    bench.figures.push(figure.note(note));
    Ok(())
}
