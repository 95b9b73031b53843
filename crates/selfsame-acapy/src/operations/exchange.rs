//! What the operations of both kinds of exchanges share: how they are listed, shown, continued and removed; problem
//! reports; the formats of a body.

use std::collections::BTreeMap;

use selfsame_agent::issue::NamedFilter;
use selfsame_agent::{ExchangeFilter, ExchangeProtocol, Exchanges};
use selfsame_aries::formats::{AttachmentFormat, FORMATS};
use selfsame_aries::notification::ProblemReport;
use selfsame_crypto::json::to_bytes;
use selfsame_driver::paging::Paging;
use selfsame_driver::{Error, Reason};
use serde::Deserialize;
use serde_json::Value;

use crate::answer::{OperationError, OperationResult, cannot, done};
use crate::call::{Flag, ListPart, OperationCall};
use crate::listing::gathered;

/// The parameters of a path that name an exchange.
const IDS: [&str; 2] = ["cred_ex_id", "pres_ex_id"];

/// What a list of exchanges is asked for.
#[derive(Deserialize)]
struct ExchangesQuery {
    connection_id: Option<String>,
    thread_id: Option<String>,
    role: Option<String>,
    state: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    descending: Option<Flag>,
}

impl ExchangesQuery {
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
}

/// The exchanges that fit the query of a call.
pub async fn listed<P: ExchangeProtocol>(
    call: &OperationCall,
    exchanges: Exchanges<'_, P>,
) -> OperationResult<Vec<Value>> {
    let asked: ExchangesQuery = call.query()?;
    let (part, filter, tenant) = (asked.part(), asked.filter(), call.tenant()?);
    let (filter, exchanges) = (&filter, &exchanges);
    let page = |paging: Paging| async move { exchanges.list(tenant, filter, &paging).await };
    gathered(part, page).await
}

/// The exchange that the path of a call names.
pub async fn found<P: ExchangeProtocol>(
    call: &OperationCall,
    exchanges: Exchanges<'_, P>,
) -> OperationResult<Value> {
    Ok(exchanges.one(call.tenant()?, named(call)?).await?)
}

/// Takes a step of the exchange that the path of a call names. Returns the record after it.
pub async fn acted<P: ExchangeProtocol>(
    call: &OperationCall,
    exchanges: Exchanges<'_, P>,
    what: P::What,
) -> OperationResult<Value> {
    Ok(exchanges.act(call.tenant()?, named(call)?, what).await?)
}

/// Removes the exchange that the path of a call names.
pub async fn removed<P: ExchangeProtocol>(
    call: &OperationCall,
    exchanges: Exchanges<'_, P>,
) -> OperationResult {
    exchanges.remove(call.tenant()?, named(call)?).await?;
    done()
}

/// The identifier of the exchange that the path of a call names.
fn named(call: &OperationCall) -> OperationResult<&str> {
    let mut path = call.path.iter();
    let found = path.find(|part| IDS.contains(&part.name.as_str()));
    let absent = || Error::not_found("exchange-absent");
    Ok(found.map(|part| part.value.as_str()).ok_or_else(absent)?)
}

/// The connection that a body must name.
///
/// # Errors
/// 422 without one.
pub fn on_connection(connection_id: Option<&String>) -> OperationResult<()> {
    match connection_id {
        Some(_) => Ok(()),
        None => Err(OperationError::missing("connection_id")),
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

/// What is in a body for each format, such as `indy`. Unknown formats are left out if there is another.
pub type ByFormat = BTreeMap<String, Value>;

/// Those of a known format.
///
/// # Errors
/// 400 if the body has no such part.
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
/// 400 if no format is known, or one is malformed.
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
