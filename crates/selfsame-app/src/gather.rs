//! The driver of pure steps: gathers what a step says it needs, runs it again, gives up after a few rounds.

use std::sync::Arc;
use std::time::Duration;

use selfsame_credential::evidence::{Evidence, Fetched, Need, Step, Unavailable};
use selfsame_credential::status;
use selfsame_crypto::time::UnixTime;
use selfsame_net::Cache;
use selfsame_store::TenantId;
use url::Url;

use crate::error::{Error, Result};
use crate::shared::Shared;

/// A step that still needs something after so many rounds asks in circles.
const ROUNDS_MAX: usize = 8;
/// A step that needs more than this at once was sent something made to cost.
const NEEDS_MAX: usize = 64;

/// The caches of what verification fetches.
pub struct Fetches {
    lists: Cache<String, status::List>,
    metadata: Cache<String, Vec<u8>>,
}

impl Default for Fetches {
    fn default() -> Self {
        Self {
            lists: Cache::new(256, Duration::from_secs(2)),
            metadata: Cache::new(256, Duration::from_secs(5)),
        }
    }
}

/// How fresh a status list must be for this verification.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// Lists fetched longer ago than this are fetched again, in seconds.
    pub max_status_age: u64,
}

impl Shared {
    /// Runs a pure step until it needs nothing more.
    ///
    /// # Errors
    /// The step's own; `Upstream` if it asks in circles.
    pub async fn run<T, E>(
        &self,
        tenant: &TenantId,
        freshness: Freshness,
        mut step: impl FnMut(&Evidence) -> std::result::Result<Step<T>, E>,
    ) -> Result<T>
    where
        Error: From<E>,
    {
        let mut evidence = Evidence::default();
        for _ in 0..ROUNDS_MAX {
            match step(&evidence)? {
                Step::Done(done) => return Ok(done),
                Step::Needs(needs) => self.gather(tenant, freshness, needs, &mut evidence).await?,
            }
        }
        Err(Error::upstream("this asks for one thing after another without end"))
    }

    async fn gather(
        &self,
        tenant: &TenantId,
        freshness: Freshness,
        needs: Vec<Need>,
        evidence: &mut Evidence,
    ) -> Result<()> {
        if needs.len() > NEEDS_MAX {
            return Err(Error::bad_request("this refers to too many other things"));
        }
        for need in needs {
            match need {
                Need::Did(did) => {
                    let fetched = self.resolver.evidence(&did, self.clock.now()).await;
                    evidence.insert_did(did, fetched);
                }
                Need::IssuerMetadata(issuer) => {
                    let fetched = self.issuer_metadata(&issuer).await;
                    evidence.insert_issuer_metadata(issuer, fetched);
                }
                Need::StatusList(uri) => {
                    let fetched = self.status_list(&uri, freshness).await;
                    evidence.insert_status_list(uri, fetched);
                }
                Need::Signature(request) => {
                    let signature = self.keys.sign(tenant, &request.key, &request.bytes).await?;
                    evidence.insert_signature(request, signature);
                }
            }
        }
        Ok(())
    }
}
