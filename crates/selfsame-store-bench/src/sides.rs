//! SQLite beside PostgreSQL: pairs through a server, then the direct load, then what the load costs.

use std::path::Path;
use std::sync::Arc;

use selfsame_bench::Error;
use selfsame_bench::report::{Bar, Figure};
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::backend::{Backend, STORE_FILE};
use selfsame_store::{Sqlite, Store, Vault};

use crate::direct::DirectStore;
use crate::pairs::{PeopledServer, Placed, USERS, in_turns, rate, ratio};
use crate::{StoreBench, copying, stored};

/// The connections of a store beside the one that writes.
const CONNECTIONS: usize = 8;
/// What the seed's wallet loaded in a second, at best.
const STUDY_LOAD: f64 = 77.0;

/// Measures both sides.
pub async fn measure(bench: &mut StoreBench<'_>) -> Result<(), Error> {
    let file = Placed::in_a_file(bench, "file");
    let database = Placed::in_a_schema(bench, "loaded");
    measure_pairs(bench, &file, &database).await?;
    for side in [&file, &database] {
        measure_direct(bench, side).await?;
    }
    measure_loaded(bench, &database).await
}

/// Opens the records that a server has left.
async fn open(bench: &StoreBench<'_>, placed: &Placed) -> Result<Store, Error> {
    let data: &Path = &placed.data;
    let backend: Arc<dyn Backend> = match &placed.schema {
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

/// Pairs by one user and by many on both sides in turns, before any load.
async fn measure_pairs(
    bench: &mut StoreBench<'_>,
    file: &Placed,
    database: &Placed,
) -> Result<(), Error> {
    let sides = [file.serve(bench).await?, database.serve(bench).await?];
    for (users, least) in [(1, 0.35), (USERS, 0.5)] {
        let part = format!("pairs by {users} at once");
        let rates = in_turns(bench, &part, &sides, async |served| {
            rate(bench, served, users).await
        });
        let [sqlite, pg] = rates.await?;
        for (prefix, rates) in [("sqlite", &sqlite), ("pg", &pg)] {
            let name = format!("{prefix}_pairs_s_{users}");
            bench.push(Figure::of(name, rates, "pairs/s"));
        }
        bench.push(ratio(&format!("pairs_ratio_{users}"), &pg, &sqlite, least));
    }
    Ok(())
}

/// The load, look-ups and single inserts of one side.
async fn measure_direct(bench: &mut StoreBench<'_>, side: &Placed) -> Result<(), Error> {
    let plan = bench.plan;
    let (prefix, least) = match side.schema {
        Some(_) => ("pg", 10_000.0),
        None => ("sqlite", 15_000.0),
    };
    let direct = DirectStore::new(open(bench, side).await?)?;
    let loaded = direct.load(plan.records, bench.progress).await?;
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
async fn measure_loaded(bench: &mut StoreBench<'_>, loaded: &Placed) -> Result<(), Error> {
    let empty = Placed::in_a_schema(bench, "empty");
    let sides = [loaded.serve(bench).await?, empty.serve(bench).await?];
    let rates = in_turns(bench, "pairs over all records", &sides, async |served| {
        rate(bench, served, USERS).await
    });
    let [with, without] = rates.await?;
    let [PeopledServer { site, .. }, _] = &sides;
    let start = site.server.ready.as_secs_f64();
    bench.push(
        Figure::new("pg_start_s", start, "s").note("to readiness, with all of the records summed"),
    );
    bench.push(ratio("records_ratio", &with, &without, 0.9));
    let rss = site.server.usage().rss_mb;
    bench.push(Figure::new("rss_mb", rss, "MB").bar(Bar::AtMost(300.0)));
    Ok(())
}
