//! One row: its credential is offered once, and what the holder answers is awaited.

use std::time::Duration;

use selfsame_agent::issue::{IssueWhat, IssuingStanding, NamedFilter, NewCredentialOffer};
use selfsame_agent::{Agents, ExchangeBegin, Wishes};
use selfsame_aries::exchange::{Preview, PreviewAttribute};
use selfsame_aries::issue_credential::IssueState;
use selfsame_crypto::hash;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;
use tokio::time::{Instant, sleep};

use crate::order::{BulkRow, IssuedRow, OrderRecord, RowResult};

/// The pause between two looks at an exchange.
const LOOKED_EVERY: Duration = Duration::from_millis(100);
/// The pause before something that failed for a reason that may pass is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The version of the protocol.
const MAJOR: u16 = 2;

/// The work on one row.
pub struct RowWork<'a> {
    pub agents: &'a Agents,
    pub tenant: &'a TenantId,
    pub order: &'a OrderRecord,
    pub row: &'a BulkRow,
    /// Its number in the order, counted from 0.
    pub number: usize,
}

impl RowWork<'_> {
    /// Issues the credential. Nothing is offered twice: the exchange is derived from the order's seed and the row's
    /// number.
    ///
    /// # Errors
    /// The store's, while nothing is known of the row.
    pub async fn result(&self) -> Result<RowResult> {
        let until = Instant::now() + Duration::from_secs(self.order.answer_within);
        let id = loop {
            match self.begun().await {
                Ok(id) => break id,
                Err(error) if may_pass(&error) && Instant::now() < until => {}
                Err(error) => {
                    return Ok(RowResult::Failed {
                        exchange: None,
                        why: error.to_string(),
                    });
                }
            }
            sleep(AGAIN_AFTER).await;
        };
        loop {
            let standing = self.agents.issuing().standing(self.tenant, &id).await?;
            let Some(standing) = standing else {
                return Ok(RowResult::Failed {
                    exchange: None,
                    why: "the record of the exchange was removed".to_owned(),
                });
            };
            if let Some(result) = settled(&id, &standing) {
                return Ok(result);
            }
            if Instant::now() >= until {
                return Ok(match standing.error {
                    Some(why) => RowResult::Failed {
                        exchange: Some(id),
                        why,
                    },
                    None => RowResult::Unanswered { exchange: id },
                });
            }
            if standing.state == IssueState::RequestReceived && standing.error.is_some() {
                sleep(AGAIN_AFTER).await;
                self.issue_again(&id).await;
            }
            sleep(LOOKED_EVERY).await;
        }
    }

    /// Offers the credential, unless it was offered already.
    async fn begun(&self) -> Result<String> {
        let (order, row) = (self.order, self.row);
        let begin = ExchangeBegin {
            connection_id: Some(row.connection_id.clone()),
            major: MAJOR,
            wishes: Wishes {
                auto_issue: Some(true),
                // The order removes it once its result is written.
                auto_remove: Some(false),
                ..Wishes::default()
            },
        };
        let attributes = row.attributes.iter().map(|(name, value)| PreviewAttribute {
            name: name.clone(),
            mime_type: None,
            value: value.clone(),
        });
        let offer = NewCredentialOffer {
            preview: Preview {
                attributes: attributes.collect(),
            },
            filters: vec![NamedFilter {
                format: order.format.clone(),
                filter: order.filter.clone(),
            }],
            comment: order.comment.clone(),
            replacement_id: None,
        };
        let number = self.number.to_string();
        let seed = hash::hmac_sha256(order.seed.as_bytes(), &[number.as_bytes()]);
        let what = IssueWhat::Offer(Some(offer));
        let issuing = self.agents.issuing();
        issuing.begin_once(self.tenant, &begin, what, seed).await
    }

    /// Issues a credential that did not follow the request by itself.
    async fn issue_again(&self, id: &str) {
        let what = IssueWhat::Issue { comment: None };
        if let Err(error) = self.agents.issuing().act(self.tenant, id, what).await {
            tracing::debug!(%error, "a credential of an order can't be issued yet");
        }
    }
}

/// What came of an exchange; `None` while it goes on.
fn settled(id: &str, standing: &IssuingStanding) -> Option<RowResult> {
    match standing.state {
        IssueState::Done | IssueState::CredentialRevoked => Some(RowResult::Issued(IssuedRow {
            exchange: id.to_owned(),
            rev_reg_id: standing.rev_reg_id.clone(),
            cred_rev_id: standing.cred_rev_id,
        })),
        IssueState::Abandoned => Some(RowResult::Failed {
            exchange: Some(id.to_owned()),
            why: match &standing.error {
                Some(why) => why.clone(),
                None => "the exchange was abandoned".to_owned(),
            },
        }),
        _ => None,
    }
}

/// Whether an error may pass by itself.
fn may_pass(error: &Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Unavailable { .. }
            | ErrorKind::TooMany { .. }
            | ErrorKind::Upstream
            | ErrorKind::Internal
    )
}
