//! Tells the issuer what became of its credentials (OpenID4VCI 1.0 §11). The cards are kept before, whatever it answers.

use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_core::machine::{Call, CallAnswer, Calling, HttpBody, HttpCall, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{RecordCache, encode};
use selfsame_driver::{Error, Result};
use selfsame_oauth::secret;
use selfsame_openid4vc::wallet::RequestsProgress;
use selfsame_openid4vc::wire::notification::NotificationRequest;
use selfsame_store::{NewOutbox, Put};
use serde::{Deserialize, Serialize};
use url::Url;

use super::possession::PossessedKey;
use crate::quota::without_keys;

const NOTIFYING: &str = "notifying_issuer";
/// Seconds for which it is tried. An access token seldom lasts longer.
const LIFETIME: u64 = 3_600;

/// The machine.
pub(crate) struct NotifyingIssuer {
    shared: Arc<Shared>,
    records: RecordCache<Notifications>,
}

/// What an issuer is still to be told.
#[derive(Deserialize, Serialize)]
pub(crate) struct Notifications {
    url: Url,
    #[serde(with = "secret")]
    token: SecretString,
    /// The key that the token is bound to, which is deleted at the end.
    possessed: Option<PossessedKey>,
    /// The notifications; the first is being sent.
    waiting: Vec<NotificationRequest>,
    until: UnixTime,
}

impl Notifications {
    /// Of an offer that ends now; `None` if there is nothing to tell.
    pub fn of(
        progress: &RequestsProgress,
        possessed: Option<&PossessedKey>,
        waiting: Vec<NotificationRequest>,
        now: UnixTime,
    ) -> Option<Self> {
        let url = progress.plan.notification_endpoint.clone()?;
        (!waiting.is_empty()).then(|| Self {
            url,
            token: progress.token.clone(),
            possessed: possessed.filter(|_| progress.is_bound).cloned(),
            waiting,
            until: now.plus(LIFETIME),
        })
    }

    /// The key that is still needed.
    pub fn key(&self) -> Option<&PossessedKey> {
        self.possessed.as_ref()
    }

    /// The record, with the first call.
    pub fn begun(&self, id: &str, now: UnixTime) -> Result<BegunNotifications> {
        Ok(BegunNotifications {
            put: Put::new(NOTIFYING, id, encode(self)?),
            call: self.entry(id, now)?,
        })
    }

    fn entry(&self, id: &str, now: UnixTime) -> Result<NewOutbox> {
        let first = self.waiting.first();
        let first = first.ok_or_else(|| Error::internal("there is nothing to tell an issuer"))?;
        let call = HttpCall {
            bearer: Some(self.token.clone()),
            proof: self.possessed.as_ref().map(PossessedKey::at_issuer),
            // §11: the same notification again is no other one.
            is_repeatable: true,
            ..HttpCall::post(self.url.clone(), HttpBody::Json(first.to_json()))
        };
        let entry = Call::Http(Box::new(call)).entry(NOTIFYING, id, id, now)?;
        // The outbox makes the call, so it need not leave time for anyone else.
        Ok(NewOutbox {
            not_before: now,
            ..entry
        })
    }
}

/// The first writes of what an issuer is to be told.
pub(crate) struct BegunNotifications {
    pub put: Put,
    pub call: NewOutbox,
}

impl NotifyingIssuer {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            records: RecordCache::default(),
        }
    }

    fn ended(&self, record: &Notifications, round: &Round<'_>) -> Next<()> {
        let mut next = Next::deleted(round, ());
        let keys: Vec<_> = record.possessed.iter().map(|one| one.key.clone()).collect();
        next.batch = without_keys(&self.shared.keys, next.batch, round.at.tenant, &keys);
        next
    }
}

impl Machine for NotifyingIssuer {
    const KIND: &'static str = NOTIFYING;
    type Record = Notifications;
    type Input = CallAnswer;
    type Reply = ();

    fn records(&self) -> &RecordCache<Notifications> {
        &self.records
    }

    fn step(
        &self,
        record: &mut Notifications,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        match answer {
            CallAnswer::Http { response, .. } => {
                if let Some(possessed) = &mut record.possessed {
                    possessed.heard_from_issuer(response.dpop_nonce.as_deref());
                }
                if !(200..300).contains(&response.status) {
                    let status = response.status;
                    tracing::info!(status, "an issuer did not take a notification");
                }
            }
            CallAnswer::Unreachable { reason } => {
                tracing::info!(reason, "an issuer can't be told what became of credentials");
            }
            _ => return Err(Error::internal("issuers answer by HTTP")),
        }
        if !record.waiting.is_empty() {
            record.waiting.remove(0);
        }
        Ok(Step::Done(match record.waiting.is_empty() {
            true => self.ended(record, round),
            false => Next::written(round, ()).call(record.entry(round.at.id, round.ctx.now())?),
        }))
    }
}

impl Calling for NotifyingIssuer {
    fn is_late(&self, record: &Notifications, now: UnixTime) -> bool {
        record.until <= now
    }

    fn given_up(
        &self,
        record: Option<&mut Notifications>,
        _: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        Ok(match record {
            Some(record) => self.ended(record, round),
            None => Next::unchanged(round, ()),
        })
    }
}
