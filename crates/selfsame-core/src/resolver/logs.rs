//! DIDs with logs: the log is fetched whole, and what was verified of it before is not verified again.

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_did::method::webvh::witness_url;
use selfsame_did::{Did, Options, Resolution, ResolutionError};
use selfsame_driver::Reason;
use selfsame_net::guard::plain_if_own;
use selfsame_net::{CacheSettings, NetError};
use selfsame_webvh::{Log, LogReading, MAX_LOG, MAX_WITNESS_FILE};
use url::Url;

use super::Resolver;

/// The verified logs that are kept. A log that is forgotten is verified from its start.
pub(super) const KEPT: CacheSettings = CacheSettings {
    capacity: 1_024,
    max_bytes: 64 * 1024 * 1024,
    ttl: 86_400,
    negative_ttl: 0,
};

impl Resolver {
    /// Fetches the log, and the proofs of its witnesses if new entries need them.
    pub(super) async fn ask_log(
        &self,
        did: &Did,
        url: &Url,
        options: &Options,
        now: UnixTime,
    ) -> Result<Resolution, NetError> {
        let key = did.to_string();
        let before = match (self.logs.at_hand(&key, now), Log::of(did)) {
            (Some(Ok((log, _))), _) => log,
            (_, Ok(empty)) => Arc::new(empty),
            (_, Err(_)) => return Ok(Resolution::failed(ResolutionError::InvalidDid)),
        };
        let url = plain_if_own(&self.plain, url);
        let Some(text) = self.net.file(&url, MAX_LOG).await? else {
            return Ok(Resolution::failed(ResolutionError::NotFound));
        };
        let mut reading = self.judged(move || before.read(&text, now)).await?;
        if reading.needs_witnesses() {
            let url = witness_url(&url).unwrap_or(url);
            let file = self.net.file(&url, MAX_WITNESS_FILE).await?;
            let judge = move || reading.witnessed(file.as_deref(), now);
            reading = self.judged(judge).await?;
        }
        self.logs.put(&key, reading.log().clone(), now).await;
        let mut resolution = reading.resolve(options);
        if let (Some(_), Some(error)) = (resolution.metadata.error, reading.fault()) {
            let code = error.fault.code();
            tracing::warn!(%did, code, entry = error.entry, "a log is refused");
            let reason = Reason::new("log-refused")
                .with("code", code)
                .with("entry", &error.entry)
                .with("detail", &error.fault);
            resolution.metadata.reason = Some(reason.stored());
        }
        Ok(resolution)
    }

    /// Judges what was fetched, away from the threads that serve requests.
    async fn judged(
        &self,
        judge: impl FnOnce() -> LogReading + Send + 'static,
    ) -> Result<LogReading, NetError> {
        let judged = self.reading.run(judge).await;
        judged.map_err(|_| NetError::Busy { retry_after: 2 })
    }
}
