//! A request whose credentials are made later, and its steps.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::{ct_eq, sha256};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_openid4vc_messages::deferred::KeptHolder;
use selfsame_openid4vc_messages::error::{CredentialCode, Error as Protocol};
use selfsame_store::{Put, Tag};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::view::{Approval, ApprovalState};

/// The kind of the records, which are in the tenant of the issuer.
pub const DEFERRAL: &str = "deferral";
/// The kind of the records that count the requests which nobody has decided about.
pub(crate) const WAITING: &str = "approval_waiting";
/// Seconds for which an answer that was lost can be had again, beyond the time of one look.
const REPEATED_FOR: u64 = 60;
/// Maximum length of the reason of a refusal, in characters.
const REASON_MAX: usize = 500;

/// A request whose credentials are made once it is approved.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DeferralRecord {
    /// The id of the record of the access token that the request came with.
    pub grant: String,
    /// The request in the clear, as JSON; empty once it was refused.
    pub request: String,
    /// The keys that it proved.
    pub holders: Vec<KeptHolder>,
    /// What it asks for.
    pub wanted: RequestedCredential,
    /// When it came.
    pub asked: UnixTime,
    /// When the access token ends, and with it this record.
    pub until: UnixTime,
    /// Seconds between two looks.
    pub interval: u32,
    /// What has become of it.
    pub state: DeferralState,
}

/// What a request asks for, for those who decide.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RequestedCredential {
    /// The id of the type.
    #[serde(rename = "type")]
    pub type_id: String,
    /// The version of the type; records of older programs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The format.
    pub format: String,
    /// The id of the offer; empty without one.
    pub offer: String,
    /// The issuer's note.
    pub label: Option<String>,
    /// The claims, until somebody has refused or the wallet has fetched them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub claims: Map<String, Value>,
}

/// What has become of a request.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum DeferralState {
    /// Nobody has decided.
    #[serde(rename = "waiting/1")]
    Waiting,
    /// It was approved.
    #[serde(rename = "approved/1")]
    Approved {
        /// When.
        at: UnixTime,
    },
    /// It was refused.
    #[serde(rename = "refused/1")]
    Refused {
        /// When.
        at: UnixTime,
        /// Why, if that was said.
        reason: Option<String>,
    },
    /// The wallet was given the credentials.
    #[serde(rename = "delivered/1")]
    Delivered {
        /// When, for the first time.
        at: UnixTime,
    },
}

/// A decision about a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Decision {
    /// The credentials are made.
    Approve,
    /// They are not, for this reason.
    Refuse(Option<String>),
}

/// What a wallet gets that looks for its credentials.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LookOutcome {
    /// They are not ready.
    NotYet,
    /// They are made now.
    Ready,
    /// The answer that it was given before, and may not have got.
    Repeated,
}

impl Decision {
    /// A refusal for this reason; an empty one counts as none.
    ///
    /// # Errors
    /// `BadRequest` for a reason that is too long, or of several lines.
    pub fn refusal(reason: Option<&str>) -> Result<Self> {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
        let is_wrong =
            |reason: &str| reason.chars().count() > REASON_MAX || reason.contains(char::is_control);
        if reason.is_some_and(is_wrong) {
            return Err(Error::bad_request("refusal-reason-long").with("maximum", &REASON_MAX));
        }
        Ok(Self::Refuse(reason.map(str::to_owned)))
    }
}

/// The id of the record of a transaction. Whoever reads the id can't look for the credentials.
#[must_use]
pub fn id_of(transaction: &str) -> String {
    let hash = sha256(transaction.as_bytes());
    base64url_encode(hash.get(..16).unwrap_or(&hash))
}

impl DeferralRecord {
    /// What a wallet gets that looks with the access token of this record.
    ///
    /// # Errors
    /// `invalid_transaction_id` if the request came with another token, is over, or its credentials were fetched (§9.3);
    /// `credential_request_denied` if it was refused.
    pub fn look(&self, grant: &str, now: UnixTime) -> std::result::Result<LookOutcome, Protocol> {
        let refuse = |code, reason: &str| Err(Protocol::credential(code, reason));
        let is_its = ct_eq(self.grant.as_bytes(), grant.as_bytes());
        if !is_its || self.is_over(now) {
            return Err(unknown());
        }
        match &self.state {
            DeferralState::Waiting => Ok(LookOutcome::NotYet),
            DeferralState::Approved { .. } => Ok(LookOutcome::Ready),
            // §9.1: the name ends once the wallet has the credentials. An answer can get lost on its way.
            DeferralState::Delivered { at } => match now < self.repeated_until(*at) {
                true => Ok(LookOutcome::Repeated),
                false => refuse(
                    CredentialCode::InvalidTransactionId,
                    "the credentials of this transaction have been fetched",
                ),
            },
            DeferralState::Refused { .. } => refuse(
                CredentialCode::CredentialRequestDenied,
                "the issuer has decided not to issue this credential",
            ),
        }
    }

    /// Takes a decision; returns whether it is the first of its kind.
    ///
    /// # Errors
    /// `NotFound` for a request that is over; `Conflict` if the other decision was taken before.
    pub fn decide(&mut self, decision: &Decision, now: UnixTime) -> Result<bool> {
        if self.is_over(now) {
            return Err(Error::not_found("approval-unknown"));
        }
        match (&self.state, decision) {
            (DeferralState::Waiting, Decision::Approve) => {
                self.state = DeferralState::Approved { at: now };
                Ok(true)
            }
            (DeferralState::Waiting, Decision::Refuse(reason)) => {
                let reason = reason.clone();
                self.state = DeferralState::Refused { at: now, reason };
                self.wanted.claims.clear();
                self.request.clear();
                Ok(true)
            }
            (
                DeferralState::Approved { .. } | DeferralState::Delivered { .. },
                Decision::Approve,
            )
            | (DeferralState::Refused { .. }, Decision::Refuse(_)) => Ok(false),
            _ => Err(Error::new(ErrorKind::Conflict, "approval-decided")
                .with("state", self.standing().as_str())),
        }
    }

    /// Notes that the wallet was given the credentials.
    pub fn deliver(&mut self, now: UnixTime) {
        self.state = DeferralState::Delivered { at: now };
        self.wanted.claims.clear();
    }

    /// The record as it is written.
    ///
    /// # Errors
    /// `Internal` if it can't be JSON.
    pub fn put(&self, id: &str) -> Result<Put> {
        let put = Put::new(DEFERRAL, id, encode(self)?).expires(self.until);
        Ok(put.tag(tagged(self.standing())))
    }

    /// The record that counts it until somebody decides or it is over; `account` is that of the person who signed in.
    #[must_use]
    pub fn counted(&self, id: &str, account: Option<&str>) -> Put {
        let put = Put::new(WAITING, id, Vec::new()).expires(self.until);
        match account {
            Some(account) => put.tag(of_account(account)),
            None => put,
        }
    }

    /// The record for those who decide, with its claims.
    #[must_use]
    pub fn view(&self, id: &str) -> Approval {
        let (decided, reason) = match &self.state {
            DeferralState::Waiting => (None, None),
            DeferralState::Approved { at } | DeferralState::Delivered { at } => (Some(*at), None),
            DeferralState::Refused { at, reason } => (Some(*at), reason.clone()),
        };
        Approval {
            id: id.to_owned(),
            type_id: self.wanted.type_id.clone(),
            format: self.wanted.format.clone(),
            offer: self.wanted.offer.clone(),
            label: self.wanted.label.clone(),
            copies: self.holders.len().max(1),
            state: self.standing(),
            asked: self.asked.rfc3339(),
            expires: self.until.rfc3339(),
            decided: decided.map(UnixTime::rfc3339),
            reason,
            claims: self.wanted.claims.clone(),
        }
    }

    fn standing(&self) -> ApprovalState {
        match self.state {
            DeferralState::Waiting => ApprovalState::Waiting,
            DeferralState::Approved { .. } => ApprovalState::Approved,
            DeferralState::Refused { .. } => ApprovalState::Refused,
            DeferralState::Delivered { .. } => ApprovalState::Issued,
        }
    }

    fn is_over(&self, now: UnixTime) -> bool {
        now >= self.until
    }

    fn repeated_until(&self, delivered: UnixTime) -> UnixTime {
        delivered.plus(u64::from(self.interval).saturating_add(REPEATED_FOR))
    }
}

/// The tag of the records in a state.
pub(crate) fn tagged(state: ApprovalState) -> Tag {
    Tag::hashed("state", state.as_str())
}

/// The tag of the records that count the requests of an account.
pub(crate) fn of_account(account: &str) -> Tag {
    Tag::hashed("account", account)
}

/// The refusal of a transaction that the issuer does not know, or that is of another access token (§9.3).
#[must_use]
pub fn unknown() -> Protocol {
    let code = CredentialCode::InvalidTransactionId;
    let reason = "no credential is prepared under this transaction_id for this access token";
    Protocol::credential(code, reason)
}
