//! The start of an instance that hosts many organisations.

use super::OrganisationsBench;
use super::data::{OrganisationsData, rate};
use crate::Error;
use crate::report::{Bar, Figure};
use crate::statistics::Sample;

/// Measures the time from the start of the process to readiness.
pub async fn measure(
    bench: &mut OrganisationsBench<'_>,
    data: &OrganisationsData,
) -> Result<(), Error> {
    let count = bench.plan.organisations;
    let took = data.fill(bench, count).await?;
    bench.push(Figure::new(
        "created_s",
        rate(count, took),
        "organisations/s",
    ));
    bench.progress.begin("starting", bench.plan.starts as u64);
    let mut ready = Sample::default();
    for _ in 0..bench.plan.starts {
        ready.add(data.start(bench, None).await?.server.ready);
        bench.progress.advance(1);
    }
    bench.push(
        Figure::new("start_ms_10000", ready.median(), "ms")
            .spread(ready.deviation())
            .bar(Bar::AtMost(2_000.0)),
    );
    Ok(())
}
