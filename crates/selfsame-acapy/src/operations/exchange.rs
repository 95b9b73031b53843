//! What the operations of both kinds of exchanges share: lists, problem reports, the formats of a body.

use std::collections::BTreeMap;

use selfsame_agent::{ExchangeFilter, ExchangeProtocol, Exchanges, NamedFilter};
use selfsame_aries::formats::{AttachmentFormat, FORMATS};
use selfsame_aries::notification::ProblemReport;
use selfsame_crypto::json::to_bytes;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, Reason};
use selfsame_store::TenantId;
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{OperationResult, cannot};
use crate::call::{Flag, ListPart};

/// What a list of exchanges is asked for.
#[derive(Deserialize)]
pub struct RecordsQuery {
    connection_id: Option<String>,
    thread_id: Option<String>,
    role: Option<String>,
    state: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    descending: Option<Flag>,
}

impl RecordsQuery {
    fn part(&self) -> ListPart {
        ListPart {
            offset: self.offset,
            limit: self.limit,
            descending: self.descending,
        }
    }

    fn filter(self) -> ExchangeFilter {
        ExchangeFilter {
            connection_id: self.connection_id,
            thread_id: self.thread_id,
            role: self.role,
            state: self.state,
        }
    }

    /// The exchanges that fit, the oldest first unless the query says otherwise.
    pub async fn found<P: ExchangeProtocol>(
        self,
        exchanges: Exchanges<'_, P>,
        tenant: &TenantId,
    ) -> OperationResult<Vec<Value>> {
        let (part, filter) = (self.part(), self.filter());
        let wanted = part.offset.saturating_add(part.limit());
        let (mut found, mut paging) = (Vec::new(), Paging::longest());
        // The newest come first, so an ascending list needs all of them.
        while !part.is_descending() || found.len() < wanted {
            let listed = exchanges.list(tenant, &filter, &paging).await?;
            found.extend(listed.items);
            match listed.next {
                Some(next) => paging.after = Some(next),
                None => break,
            }
        }
        if !part.is_descending() {
            found.reverse();
        }
        Ok(found
            .into_iter()
            .skip(part.offset)
            .take(part.limit())
            .collect())
    }
}

/// The body of a problem report.
#[derive(Deserialize)]
pub struct ReportBody {
    description: String,
}

impl ReportBody {
    /// The report.
    pub fn report(self, code: &str) -> ProblemReport {
        ProblemReport {
            code: Some(code.to_owned()),
            explain: Some(self.description),
        }
    }
}

/// What is in a body for each format, such as `indy`. Formats that nobody here knows are left out if there is another.
pub type ByFormat = BTreeMap<String, Value>;

/// Those of a known format.
///
/// # Errors
/// 400 if there is none.
pub fn known(mut formats: ByFormat) -> OperationResult<Vec<InFormat>> {
    let known = FORMATS.iter().filter_map(|format| {
        let value = formats.remove(format.name)?;
        Some(InFormat { format, value })
    });
    let found: Vec<_> = known.collect();
    match found.is_empty() {
        true => Err(cannot(Reason::new("agent-format-absent"))),
        false => Ok(found),
    }
}

/// What a body has for a format.
pub struct InFormat {
    /// The format.
    pub format: &'static AttachmentFormat,
    /// What the body has.
    pub value: Value,
}

/// What bodies have as filters of credential definitions.
///
/// # Errors
/// 400 if there is none in a known format, or one is malformed.
pub fn filters(formats: ByFormat) -> OperationResult<Vec<NamedFilter>> {
    let filter = |one: InFormat| {
        let filter = (one.format.read_filter)(&to_bytes(&one.value));
        let filter =
            filter.map_err(|error| Error::bad_request("body-invalid").with("detail", &error))?;
        Ok(NamedFilter {
            format: one.format.name.to_owned(),
            filter,
        })
    };
    known(formats)?.into_iter().map(filter).collect()
}
