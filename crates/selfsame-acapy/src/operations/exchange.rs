//! What the operations of both kinds of exchanges share: lists, problem reports, the formats of a body.

use std::collections::BTreeMap;

use selfsame_agent::{ExchangeFilter, ExchangeProtocol, Exchanges};
use selfsame_aries::notification::ProblemReport;
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
    /// The exchanges that fit, the oldest first unless the query says otherwise.
    pub async fn found<P: ExchangeProtocol>(
        self,
        exchanges: Exchanges<'_, P>,
        tenant: &TenantId,
    ) -> OperationResult<Vec<Value>> {
        let (filter, part) = self.parts();
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
        let found = found.into_iter().skip(part.offset);
        Ok(found.take(part.limit()).collect())
    }

    /// Which exchanges are wanted, and which part of them.
    fn parts(self) -> (ExchangeFilter, ListPart) {
        let filter = ExchangeFilter {
            connection_id: self.connection_id,
            thread_id: self.thread_id,
            role: self.role,
            state: self.state,
        };
        let part = ListPart {
            offset: self.offset,
            limit: self.limit,
            descending: self.descending,
        };
        (filter, part)
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
pub fn known(formats: ByFormat) -> OperationResult<Vec<NamedValue>> {
    let known = |name: &str| {
        selfsame_aries::formats::FORMATS
            .iter()
            .any(|one| one.name == name)
    };
    let named = formats.into_iter().filter(|(name, _)| known(name));
    let found: Vec<_> = named
        .map(|(name, value)| NamedValue { name, value })
        .collect();
    match found.is_empty() {
        true => Err(cannot(Reason::new("agent-format-absent"))),
        false => Ok(found),
    }
}

/// What a body has for a format.
pub struct NamedValue {
    /// The format's name.
    pub name: String,
    /// What the body has.
    pub value: Value,
}

impl NamedValue {
    /// It as a filter of credential definitions.
    pub fn filter(self) -> OperationResult<selfsame_agent::issue::NamedFilter> {
        let unknown = || Error::bad_request("aries-format-unknown").with("format", &self.name);
        let mut formats = selfsame_aries::formats::FORMATS.iter();
        let format = formats
            .find(|one| one.name == self.name)
            .ok_or_else(unknown)?;
        let bytes = selfsame_crypto::json::to_bytes(&self.value);
        let filter = (format.read_filter)(&bytes)
            .map_err(|error| Error::bad_request("body-invalid").with("detail", &error))?;
        Ok(selfsame_agent::issue::NamedFilter {
            format: self.name,
            filter,
        })
    }
}
