//! Notices that somebody signed out, on their way to a client.

use selfsame_core::machine::{CallAnswer, Calling, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};

/// The kind of the records of notices.
pub const NOTICE: &str = "oidc_logout";

/// A notice that is on its way.
#[derive(Clone, Deserialize, Serialize)]
pub struct LogoutNotice {
    /// The client that gets it.
    pub client_id: String,
    /// The end of its token.
    pub until: UnixTime,
}

/// The machine of notices: a notice ends with its answer, whatever that is.
#[derive(Default)]
pub struct LogoutNotices {
    records: RecordCache<LogoutNotice>,
}

impl Machine for LogoutNotices {
    const KIND: &'static str = NOTICE;
    type Record = LogoutNotice;
    type Input = CallAnswer;
    type Reply = ();

    fn records(&self) -> &RecordCache<LogoutNotice> {
        &self.records
    }

    fn step(
        &self,
        notice: &mut LogoutNotice,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        let status = match answer {
            CallAnswer::Http { response, .. } => Some(response.status),
            _ => None,
        };
        // OpenID Connect Back-Channel Logout §2.8: 200, or 204 as some clients answer.
        match status {
            Some(200 | 204) => {}
            status => {
                let client = &notice.client_id;
                tracing::warn!(
                    client,
                    status,
                    "a client did not take a notice of a sign-out"
                );
            }
        }
        Ok(Step::Done(Next::deleted(round, ())))
    }
}

impl Calling for LogoutNotices {
    fn is_late(&self, notice: &LogoutNotice, now: UnixTime) -> bool {
        notice.until <= now
    }

    fn given_up(
        &self,
        notice: Option<&mut LogoutNotice>,
        _: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        if let Some(notice) = notice {
            let client = &notice.client_id;
            tracing::warn!(client, "a client could not be told of a sign-out");
        }
        Ok(Next::deleted(round, ()))
    }
}
