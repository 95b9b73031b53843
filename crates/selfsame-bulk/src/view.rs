//! Orders and rows as controllers see them. Members that ACA-Py's records have too have its names.

use serde::Serialize;

use crate::order::{BulkRow, BulkState, OrderRecord, RowResult};

/// An order.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct BulkView {
    /// Its identifier.
    pub bulk_id: String,
    /// Where it stands.
    pub state: BulkState,
    /// How many rows it has.
    pub total: usize,
    /// How many holders have their credential.
    pub issued: usize,
    /// How many credentials can't be issued.
    pub failed: usize,
    /// How many holders did not answer in time.
    pub unanswered: usize,
    /// How many rows have no result yet.
    pub waiting: usize,
    /// When it was given (RFC 3339).
    pub created_at: String,
    /// When its last row had a result, or when it was cancelled (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// A row with its result.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct BulkRowView {
    /// Its number, counted from 1.
    pub row: usize,
    /// The connection to its holder.
    pub connection_id: String,
    /// The controller's own name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// What came of it.
    pub state: RowState,
    /// The exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cred_ex_id: Option<String>,
    /// The revocation registry of the credential.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev_reg_id: Option<String>,
    /// The credential's index there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cred_rev_id: Option<String>,
    /// Why it can't be issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_msg: Option<String>,
}

/// What came of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RowState {
    /// It has no result yet.
    Waiting,
    /// The holder has the credential.
    Issued,
    /// It can't be issued.
    Failed,
    /// The holder did not answer in time.
    Unanswered,
}

impl RowState {
    /// By its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "waiting" => Self::Waiting,
            "issued" => Self::Issued,
            "failed" => Self::Failed,
            "unanswered" => Self::Unanswered,
            _ => return None,
        })
    }
}

impl BulkView {
    pub(crate) fn of(id: &str, order: &OrderRecord) -> Self {
        Self {
            bulk_id: id.to_owned(),
            state: order.state,
            total: order.total,
            issued: order.counts.issued,
            failed: order.counts.failed,
            unanswered: order.counts.unanswered,
            waiting: order.total.saturating_sub(order.known()),
            created_at: order.began.rfc3339(),
            ended_at: order.ended.map(selfsame_crypto::time::UnixTime::rfc3339),
        }
    }
}

impl BulkRowView {
    pub(crate) fn of(number: usize, row: &BulkRow, result: Option<&RowResult>) -> Self {
        let mut view = Self {
            row: number,
            connection_id: row.connection_id.clone(),
            reference: row.reference.clone(),
            state: RowState::Waiting,
            cred_ex_id: None,
            rev_reg_id: None,
            cred_rev_id: None,
            error_msg: None,
        };
        match result {
            None => {}
            Some(RowResult::Issued(issued)) => {
                view.state = RowState::Issued;
                view.cred_ex_id = Some(issued.exchange.clone());
                view.rev_reg_id.clone_from(&issued.rev_reg_id);
                view.cred_rev_id = issued.cred_rev_id.map(|index| index.to_string());
            }
            Some(RowResult::Failed { exchange, why }) => {
                view.state = RowState::Failed;
                view.cred_ex_id.clone_from(exchange);
                view.error_msg = Some(why.clone());
            }
            Some(RowResult::Unanswered { exchange }) => {
                view.state = RowState::Unanswered;
                view.cred_ex_id = Some(exchange.clone());
            }
        }
        view
    }
}
