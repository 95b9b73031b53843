//! Requests of visitors: what their browsers see of them, and how many may be open.

use selfsame_crypto::SecretString;
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc::verifier::VerificationState;
use selfsame_store::Put;

use super::{Verifier, unknown};
use crate::view::saved::VisitorsRequest;
use crate::view::verifier::RequestState;

/// The kind of the records that count requests of visitors which may still wait for an answer.
const VISITOR: &str = "visitors_request";
/// Maximum number of requests of an organisation that visitors have open at once.
const VISITORS_MAX: u64 = 10_000;
/// Seconds after which a visitor who came when there was no place can try again.
const VISITORS_LATER: u64 = 60;

/// The address of a visitor's request.
#[derive(Clone, Copy)]
pub struct VisitedPlace<'a> {
    /// The name of the saved request.
    pub name: &'a str,
    /// The id of the request.
    pub id: &'a str,
    /// The code that the wallet has sent the browser back with.
    pub response_code: Option<&'a str>,
}

impl Verifier {
    /// What the visitor who opened a request may see of it. In the same-device flow they see the result only after
    /// their wallet has sent them back to this browser with the response code (OpenID4VP 1.0 §14.2).
    ///
    /// # Errors
    /// `NotFound` for any other browser, and for a request of another saved one.
    pub async fn visitors_request(
        &self,
        place: VisitedPlace<'_>,
        browser: &str,
    ) -> Result<VisitorsRequest> {
        let VisitedPlace {
            name,
            id,
            response_code,
        } = place;
        let (record, version) = self.record(id).await?;
        let given = sha256(browser.as_bytes());
        let is_same = record.browser.is_some_and(|hash| ct_eq(&hash, &given));
        if record.saved.as_deref() != Some(name) || !is_same {
            return Err(unknown());
        }
        let status = self.view(id, &record);
        let is_shown = match (&record.state, record.state.asked().redirect_uri.is_some()) {
            (VerificationState::Answered(_) | VerificationState::Declined(_), true) => {
                let code = response_code.map(|code| SecretString::from(code.to_owned()));
                code.is_some_and(|code| record.state.is_response_code(&code))
            }
            _ => true,
        };
        let outcome = status.verdict.map(|verdict| verdict.outcome);
        let view = VisitorsRequest {
            id: status.id,
            state: match is_shown {
                true => status.state,
                false => RequestState::Fetched,
            },
            outcome: outcome.filter(|_| is_shown),
            reference: status.reference,
            uri: status.uri,
            awaits_return: !is_shown,
        };
        self.records.keep(version, record);
        Ok(view)
    }

    /// The record that counts a visitor's request until it can no longer be answered.
    pub(super) async fn place_of_visitor(&self, id: &str, until: UnixTime) -> Result<Put> {
        let store = &self.shared.store;
        if store.count(self.tenant(), VISITOR, VISITORS_MAX).await? >= VISITORS_MAX {
            let retry_after = VISITORS_LATER;
            let kind = ErrorKind::Unavailable { retry_after };
            return Err(Error::new(kind, "visitors-too-many"));
        }
        Ok(Put::new(VISITOR, id, encode(&())?).expires(until))
    }
}
