//! Offers of one type by thousands, and the webhooks that tell of them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::OrganisationsBench;
use super::data::{OrganisationsData, Site, TYPE, publish, rate};
use crate::Error;
use crate::fake_server::{FakeServer, Reply};
use crate::report::{Bar, Figure};

/// Rows in one request: as many as it may have.
const ROWS: usize = 1_000;
/// Bytes of a file in one request.
const PORTION: usize = 512 * 1024;
/// How long the last message may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Identifiers of the messages that the receiver has confirmed.
type Confirmed = Arc<Mutex<HashSet<String>>>;

/// Measures the rate of rows while no webhook is set up, then the rate of messages to a receiver on this machine.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub async fn measure(
    bench: &mut OrganisationsBench<'_>,
    data: &OrganisationsData,
) -> Result<(), Error> {
    let confirmed = Confirmed::default();
    let receiver = receiver(confirmed.clone()).await?;
    let origin = receiver.address().trim_end_matches('/');
    let site = data.start(bench, Some(origin)).await?;
    publish(&site, "").await?;
    let requests = bench.plan.bulk_requests;
    bench.progress.begin("offers by thousands", requests as u64);
    let began = Instant::now();
    for _ in 0..requests {
        offers(&site).await?;
        bench.progress.advance(1);
    }
    let rows = rate(requests * ROWS, began.elapsed());
    bench.push(Figure::new("bulk_rows_s", rows, "rows/s").bar(Bar::AtLeast(5_000.0)));

    file(bench, &site).await?;
    let endpoint = json!({"url": receiver.address(), "types": ["offer.created"]});
    let token = &site.server.operator;
    site.client.post("/api/webhooks", token, &endpoint).await?;
    let requests = requests.div_ceil(4);
    let messages = requests * ROWS;
    bench.progress.begin("webhooks", messages as u64);
    let began = Instant::now();
    for _ in 0..requests {
        offers(&site).await?;
    }
    let count = || {
        confirmed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    };
    let mut shown = 0;
    while count() < messages {
        if began.elapsed() > PATIENCE {
            let why = format!("{} of {messages} were received", count());
            let what = "the messages of a webhook".to_owned();
            return Err(Error::Call { what, why });
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
        bench.progress.advance((count() - shown) as u64);
        shown = count();
    }
    let sent = rate(messages, began.elapsed());
    let note = "from the first request for offers to the last message's arrival";
    bench.push(
        Figure::new("webhooks_s", sent, "messages/s")
            .bar(Bar::AtLeast(2_000.0))
            .note(note),
    );
    Ok(())
}

async fn receiver(confirmed: Confirmed) -> std::io::Result<FakeServer> {
    FakeServer::start(move |request| {
        let told: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        if let Some(id) = told["data"]["id"].as_str() {
            let mut confirmed = confirmed.lock().unwrap_or_else(PoisonError::into_inner);
            confirmed.insert(id.to_owned());
        }
        Reply {
            status: 204,
            ..Reply::default()
        }
    })
    .await
}

/// Measures a file of CSV, from its first byte to its last offer.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn file(bench: &mut OrganisationsBench<'_>, site: &Site) -> Result<(), Error> {
    let rows = bench.plan.file_rows;
    let mut file = "reference,given_name,family_name,born,number,department\n".to_owned();
    for number in 0..rows {
        file.push_str(&format!(
            "{number},Maja,Musterfrau {number},1984-01-26,E-{number:06},Radiology\n"
        ));
    }
    bench.progress.begin("offers of a file", rows as u64);
    let token = &site.server.operator;
    let began = Instant::now();
    let new = json!({"type": TYPE, "kind": "csv"});
    let path = "/api/issuer/lists";
    let mut list = site.client.post(path, token, &new).await?;
    let path = format!("{path}/{}", list["id"].as_str().unwrap_or_default());
    let mut from = 0;
    for portion in file.as_bytes().chunks(PORTION) {
        let at = format!("{path}/file?from={from}");
        site.client.post_bytes(&at, token, portion).await?;
        from += portion.len();
    }
    let at = format!("{path}/issue");
    list = site.client.post(&at, token, &json!({})).await?;
    while list["state"] == "offering" {
        if began.elapsed() > PATIENCE {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        list = site.client.get(&path, token).await?;
    }
    if list["offered"] != json!(rows) {
        let (what, why) = (path, format!("it ended as {list}"));
        return Err(Error::Call { what, why });
    }
    let rate = rate(rows, began.elapsed());
    bench.push(Figure::new("bulk_file_rows_s", rate, "rows/s").bar(Bar::AtLeast(3_000.0)));
    Ok(())
}

/// One request for as many offers as it may have.
async fn offers(site: &Site) -> Result<(), Error> {
    let row = |number: usize| {
        json!({
            "label": number.to_string(),
            "claims": {
                "given_name": "Maja",
                "family_name": format!("Musterfrau {number}"),
                "born": "1984-01-26",
                "number": format!("E-{number:06}"),
                "department": "Radiology",
            },
        })
    };
    let rows: Vec<Value> = (0..ROWS).map(row).collect();
    let new = json!({"type": TYPE, "by_reference": true, "rows": rows});
    let path = "/api/issuer/offers/bulk";
    let made = site.client.post(path, &site.server.operator, &new).await?;
    match made["items"].as_array().map(Vec::len) {
        Some(ROWS) => Ok(()),
        _ => Err(Error::Call {
            what: path.to_owned(),
            why: "it did not make every offer".to_owned(),
        }),
    }
}
