//! SQLite beside PostgreSQL: pairs through a server, then the direct load, then what the load costs.

use std::path::Path;
use std::sync::Arc;

use selfsame_bench::Error;
use selfsame_bench::report::{Bar, Figure};
use selfsame_bench::statistics::Sample;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::{Backend, STORE_FILE};
use selfsame_store::{Sqlite, Store, Vault};

use crate::direct::DirectStore;
use crate::pairs::{PeopledServer, Placed, USERS, rate, ratios};
use crate::{StoreBench, copying, stored};

/// The connections of a store beside the one that writes.
const CONNECTIONS: usize = 8;
/// What the seed's wallet loaded in a second, at best.
const STUDY_LOAD: f64 = 77.0;

/// One of the stores that are compared.
struct StoreSide {
    placed: Placed,
    /// The schema, if the records are in the database.
    schema: Option<String>,
}

/// Measures both sides.
pub async fn measure(bench: &mut StoreBench<'_>) -> Result<(), Error> {
    let file = StoreSide {
        placed: Placed::in_a_file(bench.target.scratch, "file"),
        schema: None,
    };
    let database = StoreSide::in_a_schema(bench, "loaded");
    measure_pairs(bench, &file, &database).await?;
    for side in [&file, &database] {
        measure_direct(bench, side).await?;
    }
    measure_loaded(bench, &database).await
}

impl StoreSide {
    fn in_a_schema(bench: &StoreBench<'_>, name: &str) -> Self {
        let (placed, schema) = Placed::in_a_schema(bench, name);
        Self {
            placed,
            schema: Some(schema),
        }
    }

    /// What the figures' names begin with.
    fn prefix(&self) -> &'static str {
        match self.schema {
            Some(_) => "pg",
            None => "sqlite",
        }
    }

    /// Opens the records that a server has left.
    async fn open(&self, bench: &StoreBench<'_>) -> Result<Store, Error> {
        let data: &Path = &self.placed.data;
        let backend: Arc<dyn Backend> = match &self.schema {
            Some(schema) => {
                let address = Address::parse(&bench.database.address(schema)).map_err(stored)?;
                let opened = Postgres::open(&address, CONNECTIONS, Company::Alone).await;
                Arc::new(opened.map_err(stored)?)
            }
            None => Arc::new(Sqlite::open(data.join(STORE_FILE)).map_err(stored)?),
        };
        let vault = Vault::from_master((bench.target.master_key)(data)?);
        Store::open(backend, vault).await.map_err(stored)
    }
}

/// Pairs by one user and by many on both sides in turns, before any load.
async fn measure_pairs(
    bench: &mut StoreBench<'_>,
    file: &StoreSide,
    database: &StoreSide,
) -> Result<(), Error> {
    let sides = [
        file.placed.serve(bench, USERS).await?,
        database.placed.serve(bench, USERS).await?,
    ];
    for users in [1, USERS] {
        let mut rates = [Sample::default(), Sample::default()];
        let part = format!("pairs by {users} at once");
        bench.progress.begin(&part, 2 * bench.plan.rounds as u64);
        for _ in 0..bench.plan.rounds {
            for (served, rates) in sides.iter().zip(&mut rates) {
                rates.push(rate(bench, served, users).await?);
                bench.progress.advance(1);
            }
        }
        let [sqlite, pg] = &rates;
        for (prefix, rates) in [("sqlite", sqlite), ("pg", pg)] {
            let name = format!("{prefix}_pairs_s_{users}");
            bench.push(Figure::new(name, rates.median(), "pairs/s").spread(rates.range()));
        }
        let least = if users == 1 { 0.35 } else { 0.5 };
        let ratios = ratios(pg, sqlite);
        bench.push(
            Figure::new(format!("pairs_ratio_{users}"), ratios.median(), "")
                .spread(ratios.range())
                .bar(Bar::AtLeast(least)),
        );
    }
    Ok(())
}

/// The load, look-ups and single inserts of one side.
async fn measure_direct(bench: &mut StoreBench<'_>, side: &StoreSide) -> Result<(), Error> {
    let (plan, prefix) = (bench.plan, side.prefix());
    let direct = DirectStore::new(side.open(bench).await?)?;
    let loaded = direct.load(plan.records, bench.progress).await?;
    let least = if prefix == "pg" { 10_000.0 } else { 15_000.0 };
    bench.push(
        Figure::new(format!("{prefix}_load_s"), loaded, "records/s")
            .bar(Bar::AtLeast(least))
            .study(STUDY_LOAD),
    );
    bench.progress.begin("looking up by tag", 1);
    let times = direct.look_up(plan.records, plan.lookups).await?;
    let name = format!("{prefix}_lookup_p99_ms");
    bench.push(Figure::new(name, times.quantile(0.99), "ms").bar(Bar::AtMost(5.0)));
    bench.progress.begin("inserting one by one", 1);
    let inserted = direct.insert(plan.records, plan.rate_for).await?;
    let figure = Figure::new(format!("{prefix}_inserts_s"), inserted, "records/s");
    let Some(schema) = &side.schema else {
        bench.push(figure);
        return Ok(());
    };
    bench.push(figure.bar(Bar::AtLeast(1_500.0)));
    drop(direct);
    let copied = copying::measure(bench.database, schema, bench.target.scratch, bench.progress);
    let copied = copied.await?;
    bench.push(Figure::new("pg_copy_s", copied, "records/s"));
    bench.push(
        Figure::new("pg_load_copy_ratio", loaded / copied.max(f64::EPSILON), "")
            .bar(Bar::AtLeast(0.3)),
    );
    Ok(())
}

/// A server over all of the records beside one over none, in turns.
async fn measure_loaded(bench: &mut StoreBench<'_>, loaded: &StoreSide) -> Result<(), Error> {
    let empty = StoreSide::in_a_schema(bench, "empty");
    let with: PeopledServer = loaded.placed.serve(bench, USERS).await?;
    let without = empty.placed.serve(bench, USERS).await?;
    let start = with.site.server.ready.as_secs_f64();
    bench.push(
        Figure::new("pg_start_s", start, "s").note("to readiness, with all of the records summed"),
    );
    let mut rates = [Sample::default(), Sample::default()];
    bench
        .progress
        .begin("pairs over all records", bench.plan.rounds as u64);
    for _ in 0..bench.plan.rounds {
        for (served, rates) in [&with, &without].into_iter().zip(&mut rates) {
            rates.push(rate(bench, served, USERS).await?);
        }
        bench.progress.advance(1);
    }
    let [with_rates, without_rates] = &rates;
    let ratios = ratios(with_rates, without_rates);
    bench.push(
        Figure::new("records_ratio", ratios.median(), "")
            .spread(ratios.range())
            .bar(Bar::AtLeast(0.9)),
    );
    let rss = with.site.server.usage().rss_mb;
    bench.push(Figure::new("rss_mb", rss, "MB").bar(Bar::AtMost(300.0)));
    Ok(())
}
