//! One data directory with organisations, of which servers are started one after another.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::OrganisationsBench;
use crate::client::BenchClient;
use crate::process::ServerProcess;
use crate::{Error, Progress, tasks};

/// The credential type of each organisation.
pub const TYPE: &str = "staff-pass";
/// How many organisations are created at once.
const AT_ONCE: usize = 8;

/// The data of all servers of the bench.
pub(super) struct OrganisationsData {
    data: PathBuf,
}

/// A server with its client.
pub struct Site {
    /// The server.
    pub server: ServerProcess,
    /// Its client.
    pub client: BenchClient,
}

impl OrganisationsData {
    /// An empty directory of this name.
    pub(super) fn new(scratch: &Path, name: &str) -> Self {
        Self {
            data: scratch.join(name),
        }
    }

    /// Starts a server with the data, which may call this origin.
    pub(super) async fn start(
        &self,
        bench: &OrganisationsBench<'_>,
        origin: Option<&str>,
    ) -> Result<Site, Error> {
        let more = origin.map_or_else(Vec::new, |origin| {
            vec!["--trust-origin".to_owned(), origin.to_owned()]
        });
        let server = bench.program.start_with(&self.data, "", &more).await?;
        let client = BenchClient::new(&server.base);
        Ok(Site { server, client })
    }

    /// Creates this number of organisations in the empty directory; returns the time it took.
    pub(super) async fn fill(
        &self,
        bench: &OrganisationsBench<'_>,
        count: usize,
    ) -> Result<Duration, Error> {
        let site = self.start(bench, None).await?;
        create(&site, count, bench.progress).await
    }
}

/// Creates this number of organisations; returns the time it took.
///
/// # Errors
/// If one can't be created.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub async fn create(site: &Site, count: usize, progress: &dyn Progress) -> Result<Duration, Error> {
    progress.begin("creating organisations", count as u64);
    let began = Instant::now();
    let creating = (0..count).map(|number| {
        let (client, token) = (site.client.clone(), site.server.operator.clone());
        async move { create_one(&client, &token, number).await }
    });
    tasks::all(creating, AT_ONCE, progress).await?;
    Ok(began.elapsed())
}

/// The path below which an organisation's addresses stand.
#[must_use]
pub fn below(number: usize) -> String {
    format!("/o/office-{number}")
}

async fn create_one(client: &BenchClient, token: &str, number: usize) -> Result<(), Error> {
    let name = below(number);
    let name = name.trim_start_matches("/o/");
    let new = json!({
        "name": name,
        "title": format!("Office {number}"),
        "did_method": "jwk",
        "samples": false,
    });
    client.post("/api/organisations", token, &new).await?;
    Ok(())
}

/// Publishes a credential type with five claims for an organisation.
///
/// # Errors
/// If the server refuses it.
pub async fn publish(site: &Site, below: &str) -> Result<(), Error> {
    let claim = |name: &str, kind: &str, example: &str| {
        json!({
            "path": [name],
            "label": {"en": name},
            "kind": kind,
            "required": true,
            "example": example,
        })
    };
    let definition = json!({
        "id": TYPE,
        "title": {"en": "Staff pass"},
        "claims": [
            claim("given_name", "text", "Maja"),
            claim("family_name", "text", "Musterfrau"),
            claim("born", "date", "1984-01-26"),
            claim("number", "text", "E-000017"),
            claim("department", "text", "Radiology"),
        ],
    });
    let (client, token) = (&site.client, &site.server.operator);
    let types = format!("{below}/api/types");
    client.post(&types, token, &definition).await?;
    let publish = format!("{types}/{TYPE}/publish");
    client.post(&publish, token, &Value::Null).await?;
    Ok(())
}

/// The number per second.
pub(super) fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64().max(f64::EPSILON)
}
