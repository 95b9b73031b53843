//! The driver of pure steps: gathers what a step needs, runs the step again, and gives up after a few rounds.

mod uses;

use std::sync::Arc;

use selfsame_credential::evidence::{Evidence, Fetched, Need, Step, Unavailable};
use selfsame_credential::single_use::Use;
use selfsame_credential::status;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{BoxedWork, Error, Result};
use selfsame_net::{Fresh, NetError, Request, Response};
use selfsame_store::TenantId;
use selfsame_traces::{Attribute, SpanEnd, SpanKind};
use url::Url;

use crate::fetches::Recency;
use crate::registry::UseKey;
use crate::shared::Shared;

/// A step that still needs something after this number of rounds is going in circles.
const ROUNDS_MAX: usize = 8;
/// A step that needs more than this at once was sent input designed to be expensive.
const NEEDS_MAX: usize = 64;

/// How fresh a status list must be for this verification.
#[derive(Clone, Copy, Debug)]
pub struct Freshness {
    /// Lists fetched longer ago than this are fetched again, in seconds.
    pub max_status_age: u64,
}

impl Freshness {
    /// Whether a list that was fetched at `fetched_at` may be used without fetching it again: neither the policy nor
    /// the list itself asks for a newer one (Token Status List §8.2).
    fn allows(self, list: &status::List, fetched_at: UnixTime, now: UnixTime) -> bool {
        now.seconds_since(fetched_at) <= self.max_status_age
            && list.fresh_until(fetched_at).is_none_or(|end| end > now)
    }
}

impl Shared {
    /// Empty evidence for one verification; a credential that was verified before is not verified again.
    pub fn evidence(&self) -> Evidence {
        Evidence::knowing(self.fetched.genuine.clone(), self.clock.now())
    }

    /// Runs a pure step until it needs nothing more.
    ///
    /// # Errors
    /// The step's own; `Upstream` if the step goes in circles.
    pub async fn run<T: Send>(
        &self,
        tenant: &TenantId,
        freshness: Freshness,
        mut step: impl FnMut(&Evidence) -> Result<Step<T>> + Send,
    ) -> Result<T> {
        let mut done = None;
        let mut round = |evidence: &Evidence| {
            Ok(match step(evidence)? {
                Step::Done(result) => {
                    done = Some(result);
                    Vec::new()
                }
                Step::Needs(needs) => needs,
            })
        };
        self.rounds(tenant, freshness, &mut round).await?;
        done.ok_or_else(|| Error::internal("a step asked for nothing"))
    }

    /// As [`Self::run`], for a step that others can make long: each of its rounds is in the pool for reading.
    ///
    /// # Errors
    /// Those too; `TooMany` if too much waits for the pool.
    pub async fn run_apart<T: Send + 'static>(
        &self,
        tenant: &TenantId,
        freshness: Freshness,
        step: impl Fn(&Evidence) -> Result<Step<T>> + Send + Sync + 'static,
    ) -> Result<T> {
        let step = Arc::new(step);
        let mut evidence = self.evidence();
        for _ in 0..ROUNDS_MAX {
            let (step, known) = (step.clone(), evidence.clone());
            match self.reading.run(move || step(&known)).await?? {
                Step::Needs(needs) => {
                    let span = selfsame_traces::span("gather", SpanKind::Internal)
                        .with(|| Attribute::Needs(needs.len()));
                    let gathering = self.gather(tenant, freshness, needs, &mut evidence);
                    span.watch(Box::pin(gathering), SpanEnd::of).await?;
                }
                Step::Done(result) => {
                    self.keep_what_is_genuine(&evidence);
                    return Ok(result);
                }
            }
        }
        Err(Error::upstream("resolution-endless"))
    }

    /// Runs a step until it gives no needs. It is apart from [`Self::run`] so that it is compiled once, not per step.
    fn rounds<'a>(
        &'a self,
        tenant: &'a TenantId,
        freshness: Freshness,
        step: &'a mut (dyn FnMut(&Evidence) -> Result<Vec<Need>> + Send),
    ) -> BoxedWork<'a, Result<()>> {
        Box::pin(async move {
            let mut evidence = self.evidence();
            for _ in 0..ROUNDS_MAX {
                let needs = step(&evidence)?;
                if needs.is_empty() {
                    self.keep_what_is_genuine(&evidence);
                    return Ok(());
                }
                let span = selfsame_traces::span("gather", SpanKind::Internal)
                    .with(|| Attribute::Needs(needs.len()));
                let gathering = self.gather(tenant, freshness, needs, &mut evidence);
                span.watch(gathering, SpanEnd::of).await?;
            }
            Err(Error::upstream("resolution-endless"))
        })
    }

    /// Forgets the status lists whose signature was not verified, so that the next verification fetches them again:
    /// bytes without a verified signature serve as a list for one verification at most.
    fn keep_what_is_genuine(&self, evidence: &Evidence) {
        let now = self.clock.now();
        for list in evidence.status_lists().filter(|list| !list.is_judged()) {
            let key = list.uri().to_owned();
            let kept = self.fetched.lists.at_hand(&key, now);
            let is_kept = matches!(
                kept, Some(Ok((kept, _))) if matches!(&*kept, Ok(kept) if Arc::ptr_eq(kept, list))
            );
            if is_kept {
                self.fetched.lists.forget(&key);
            }
        }
    }

    async fn gather(
        &self,
        tenant: &TenantId,
        freshness: Freshness,
        needs: Vec<Need>,
        evidence: &mut Evidence,
    ) -> Result<()> {
        if needs.len() > NEEDS_MAX {
            return Err(Error::bad_request("documents-too-many"));
        }
        for need in needs {
            let when = Recency {
                now: self.clock.now(),
                outdated: evidence.ask_again(&need),
            };
            match need {
                Need::Did(did) => {
                    let fetched = self.resolver.evidence(&did, when).await;
                    evidence.insert_did(did, fetched);
                }
                Need::IssuerMetadata(issuer) => {
                    let fetched = match metadata_of(&issuer) {
                        Some(url) => self.key_document(&url, when).await,
                        None => unavailable("the issuer is not an https address", self.clock.now()),
                    };
                    evidence.insert_issuer_metadata(issuer, fetched);
                }
                Need::JwkSet(uri) => {
                    let fetched = match Url::parse(&uri) {
                        Ok(url) => self.key_document(&url, when).await,
                        Err(_) => unavailable("`jwks_uri` is not a valid URL", self.clock.now()),
                    };
                    evidence.insert_jwk_set(uri, fetched);
                }
                Need::StatusList(uri) => {
                    let fetched = self.status_list(&uri, freshness).await;
                    evidence.insert_status_list(uri, fetched);
                }
                Need::Use { issuer, digest } => {
                    let key = UseKey { issuer, digest };
                    let fetched = self.single_use(&key).await;
                    evidence.insert_single_use(key.issuer, key.digest, fetched);
                }
                Need::Signature(request) => {
                    let signature = self.keys.sign(tenant, &request.key, &request.bytes).await?;
                    evidence.insert_signature(request, signature);
                }
            }
        }
        Ok(())
    }

    /// A document that names an issuer's keys, fetched again if the cached copy is of `outdated` or before.
    async fn key_document(
        &self,
        url: &Url,
        Recency { now, outdated }: Recency,
    ) -> Fetched<Vec<u8>> {
        let fetch = Box::pin(async {
            let response = self.fetched_document(url, "application/json").await?;
            Ok(Fresh::new(response.body.to_vec())
                .at_most(response.cache_max_age.unwrap_or(u64::MAX)))
        });
        let (known, url_text) = (&self.fetched.metadata, url.to_string());
        match known.get_newer(&url_text, now, outdated, fetch).await {
            Ok((document, at)) => Fetched {
                value: Ok((*document).clone()),
                at,
            },
            Err(error) => {
                tracing::warn!(reason = %error, %url, "an issuer's keys could not be fetched");
                unavailable(&error.public_reason(), now)
            }
        }
    }

    /// A status list, fetched again if the cached one is too old for this verification.
    pub async fn status_list(&self, uri: &str, freshness: Freshness) -> Fetched<Arc<status::List>> {
        let now = self.clock.now();
        let key = uri.to_owned();
        let Ok(url) = Url::parse(uri) else {
            return unavailable("the status list URI is not a valid URL", now);
        };
        if freshness.max_status_age == 0 {
            self.fetched.lists.forget(&key);
        }
        let mut outdated = None;
        for _ in 0..2 {
            let fetch = Box::pin(async {
                let accept = "application/statuslist+jwt, application/statuslist+cwt;q=0.9, application/vc+jwt;q=0.9";
                let response = self.fetched_document(&url, accept).await?;
                let read = match self.same_list(&key, &response) {
                    Some(same) => Ok(same),
                    None => {
                        let read = self.fetched.room.read(uri, &response, now).await;
                        read.map(Arc::new)
                    }
                };
                Ok(match read {
                    Ok(list) => Fresh::new(Ok(list)),
                    Err(error) => {
                        tracing::warn!(%error, uri, "a status list can't be read");
                        Fresh::negative(Err(error))
                    }
                })
            });
            let lists = &self.fetched.lists;
            let (found, at) = match lists.get_newer(&key, now, outdated, fetch).await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(reason = %error, uri, "a status list could not be fetched");
                    return unavailable(&error.public_reason(), now);
                }
            };
            let list = match found.as_ref() {
                Ok(list) => list.clone(),
                Err(error) => return unavailable(&error.to_string(), now),
            };
            // A list whose signature was not verified serves only those who waited for this fetch.
            if (list.is_judged() && freshness.allows(&list, at, now)) || at >= now {
                return Fetched {
                    value: Ok(list),
                    at,
                };
            }
            outdated = Some(at);
        }
        unavailable(
            "the status list is too old, and no newer one is available",
            now,
        )
    }

    /// The cached list, if it was read from the same bytes: its issuer has not signed another one since.
    fn same_list(&self, key: &String, response: &Response) -> Option<Arc<status::List>> {
        let now = self.clock.now();
        let (kept, _) = self.fetched.lists.at_hand(key, now)?.ok()?;
        let list = kept.as_ref().as_ref().ok()?;
        let content_type = response.content_type.as_deref();
        let is_same = list.is_read_from(content_type, &response.body, now);
        is_same.then(|| list.clone())
    }

    /// The status list at a URI and when it was fetched, if it is cached and fresh enough; never fetches.
    pub fn status_list_at_hand(
        &self,
        uri: &str,
        freshness: Freshness,
    ) -> Option<(Arc<status::List>, UnixTime)> {
        let now = self.clock.now();
        let kept = self.fetched.lists.at_hand(&uri.to_owned(), now);
        let (found, at) = kept?.ok()?;
        let list = found.as_ref().as_ref().ok()?;
        let is_usable = list.is_judged() && freshness.allows(list, at, now);
        is_usable.then(|| (list.clone(), at))
    }

    /// The use of a single-use credential, if any. Read from the registry each time: an older answer would let a
    /// credential be used twice.
    pub async fn single_use(&self, key: &UseKey) -> Fetched<Option<Use>> {
        let now = self.clock.now();
        let Some(registry) = &self.registry else {
            return unavailable("this instance has no registry to look up uses in", now);
        };
        let network = selfsame_did::selfsame::parts(&key.issuer).map(|(network, _)| network);
        let read = async {
            if network != Some(registry.network().await?) {
                return Err(Error::upstream("registry-foreign"));
            }
            let (used, at) = registry.used(key).await?;
            Ok(Fetched {
                value: Ok(used),
                at,
            })
        };
        match read.await {
            Ok(fetched) => fetched,
            Err(error) => unavailable(&error.to_string(), now),
        }
    }

    /// A document at a URL, in one of the accepted media types.
    ///
    /// # Errors
    /// If there is no answer, or its status is not a success.
    pub async fn fetched_document(
        &self,
        url: &Url,
        accept: &str,
    ) -> std::result::Result<Response, NetError> {
        let request = Request {
            accept: Some(accept),
            redirects: 2,
            ..Request::default()
        };
        let response = self.net.get(url, &request).await?;
        if response.is_success() {
            return Ok(response);
        }
        tracing::warn!(
            status = response.status,
            host = url.host_str(),
            "a document could not be fetched"
        );
        Err(NetError::Malformed("its status is not a success"))
    }
}

fn metadata_of(issuer: &str) -> Option<Url> {
    selfsame_oauth::metadata::well_known(issuer, "jwt-vc-issuer")
}

fn unavailable<T>(reason: &str, at: UnixTime) -> Fetched<T> {
    tracing::warn!(reason, "evidence is not available");
    Fetched {
        value: Err(Unavailable {
            reason: reason.to_owned(),
        }),
        at,
    }
}
