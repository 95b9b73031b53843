//! Proofs of entries: an organisation asks for every claim of a random one, the book proves it, and the organisation reads the
//! verdict.

use std::time::{Duration, Instant};

use selfsame_bench::statistics::Sample;
use selfsame_bench::{Error, Progress, tasks};
use serde_json::{Value, json};

use super::claims::EnteredClaim;
use super::names::Draw;
use super::site::{ASKER, BookSite, KEEPER, TokenApi, lacks};

/// The result of proofs.
pub(super) struct ProvenEntries {
    /// Proofs a second.
    pub rate: f64,
    /// The time of each, from the request to the verdict.
    pub times: Sample,
}

/// Has this number of random entries proven, some at once.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) async fn measure(
    site: &BookSite,
    entered: &[EnteredClaim],
    at_once: usize,
    count: usize,
    progress: &dyn Progress,
) -> Result<ProvenEntries, Error> {
    progress.begin(&format!("proofs, {at_once} at once"), count as u64);
    let mut draw = Draw::of(7);
    let chosen = (0..count).filter_map(|_| draw.one(entered)).cloned();
    let proving = chosen.map(|entry| {
        let operator = site.operator.clone();
        async move { prove(&operator, &entry).await }
    });
    let began = Instant::now();
    let taken = tasks::all(proving, at_once, progress).await?;
    let took = began.elapsed().as_secs_f64();
    let mut times = Sample::default();
    taken.into_iter().for_each(|time| times.add(time));
    Ok(ProvenEntries {
        rate: times.len() as f64 / took.max(f64::EPSILON),
        times,
    })
}

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
async fn prove(operator: &TokenApi, entry: &EnteredClaim) -> Result<Duration, Error> {
    let began = Instant::now();
    let requests = "/api/verifier/requests";
    let made = operator.post(ASKER, requests, &request(entry)).await?;
    let (id, link) = (made["id"].as_str(), made["uri"].as_str());
    let (Some(id), Some(link)) = (id, link) else {
        return Err(lacks(requests, &made));
    };
    let prove = format!("/api/v4/credential/{}/prove", entry.credential_id);
    let asked = json!({"request": link});
    operator.post(KEEPER, &prove, &asked).await?;
    let shown = operator.get(ASKER, &format!("{requests}/{id}")).await?;
    match shown["verdict"]["outcome"] == "valid" {
        true => Ok(began.elapsed()),
        false => Err(lacks(requests, &shown)),
    }
}

/// A request for every claim of an entry.
fn request(entry: &EnteredClaim) -> Value {
    let claims = entry.claims.iter().map(|name| json!({"path": [name]}));
    json!({"dcql_query": {"credentials": [{
        "id": "entry",
        "format": entry.format,
        "require_cryptographic_holder_binding": false,
        "meta": {"vct_values": [entry.vct]},
        "claims": claims.collect::<Vec<_>>(),
    }]}})
}
