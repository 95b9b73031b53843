//! One order of many credentials, from the call to the last acknowledgement.

use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Bar, Figure};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::AriesBench;
use crate::agents::Kind;
use crate::scenario::{now, text};
use crate::stage::Staging;

/// The holder's connections, which the rows are spread over.
const CONNECTIONS: usize = 50;
/// The rows that the bar is about.
const ROWS: f64 = 100_000.0;
/// What the agents are set to beside the usual: the holder keeps what it is issued, and an order may be large.
const SETTINGS: &str = "auto_store_credential = true\nadmin_client_max_request_size = 64\n";
/// The pause between two looks at the order.
const LOOKED_EVERY: Duration = Duration::from_millis(500);

/// Measures.
pub async fn measure(bench: &mut AriesBench<'_>, program: &Program) -> Result<(), Error> {
    let rows = bench.plan.rows;
    let staging = Staging {
        further: SETTINGS,
        ..Staging::new("bulk", Kind::Vaccination)
    };
    let stage = bench.stage(program, staging).await?;
    let (issuer, holder) = (&stage.cast.issuer, &stage.cast.holder);
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(connected(issuer, holder).await?);
    }
    let values = stage.cast.material.attributes().as_array();
    let values = values.into_iter().flatten();
    let values = values.filter_map(|one| Some((one["name"].as_str()?, one["value"].clone())));
    let values: serde_json::Map<String, Value> = values
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let row = |connection: &String| json!({"connection_id": connection, "attributes": values});
    let order = json!({
        "filter": {"anoncreds": {"cred_def_id": stage.cast.material.cred_def_id}},
        "rows": connections.iter().cycle().take(rows).map(row).collect::<Vec<_>>(),
    });
    bench
        .progress
        .begin(&format!("{rows} credentials in one call"), rows as u64);
    let began = now();
    let given = issuer
        .post("/issue-credential-2.0/bulk", "", &order)
        .await?;
    let path = format!("/issue-credential-2.0/bulk/{}", text(&given, "bulk_id")?);
    let mut seen = 0;
    let ended = loop {
        let order = issuer.get(&path, "").await?;
        let issued = order["issued"].as_u64().unwrap_or_default();
        for _ in seen..issued {
            bench.progress.advance(1);
        }
        seen = issued;
        if order["state"] != "running" {
            break order;
        }
        sleep(LOOKED_EVERY).await;
    };
    let took = began.elapsed().as_secs_f64();
    let minutes = Figure::new("bulk_100000_min", took / 60.0 * ROWS / rows as f64, "min");
    let minutes = minutes.bar(Bar::AtMost(15.0));
    bench.push(match (rows as f64) < ROWS {
        true => minutes.note(format!("from an order of {rows}")),
        false => minutes,
    });
    let missing = rows as f64 - ended["issued"].as_f64().unwrap_or_default();
    let missing = Figure::new("bulk_errors", missing, "");
    bench.push(missing.bar(Bar::AtMost(0.0)));
    bench.push(Figure::new("bulk_rss_mb", stage.usage().rss_mb, "MB"));
    Ok(())
}

/// The issuer's identifier of a connection that is ready.
async fn connected(issuer: &BenchClient, holder: &BenchClient) -> Result<String, Error> {
    let path = "/connections/create-invitation?auto_accept=true";
    let invited = issuer.post(path, "", &json!({})).await?;
    let path = "/connections/receive-invitation?auto_accept=true";
    holder.post(path, "", &invited["invitation"]).await?;
    let id = text(&invited, "connection_id")?;
    let path = format!("/connections/{id}");
    while issuer.get(&path, "").await?["state"] == "invitation" {
        sleep(Duration::from_millis(10)).await;
    }
    Ok(id)
}
