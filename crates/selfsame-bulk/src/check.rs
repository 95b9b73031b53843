//! An order is checked completely before anything is offered: one malformed row refuses the whole, and the refusal
//! names the rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use selfsame_agent::Agents;
use selfsame_credential::single_use::HANDLE;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;

use crate::order::{BulkRow, NewBulk, ROWS_MAX};

/// The most rows that a refusal names.
const NAMED_MAX: usize = 20;
/// The longest time for an answer, in seconds: a week.
const ANSWER_MAX: u64 = 7 * 86_400;

/// Checks an order.
///
/// # Errors
/// `BadRequest` with the rows that are wrong, and why; the store's.
pub(crate) async fn check(agents: &Agents, tenant: &TenantId, new: &NewBulk) -> Result<()> {
    if new.rows.is_empty() || new.rows.len() > ROWS_MAX {
        return Err(Error::bad_request("bulk-size")
            .with("rows", &new.rows.len())
            .with("most", &ROWS_MAX));
    }
    if new
        .answer_within
        .is_some_and(|within| within == 0 || within > ANSWER_MAX)
    {
        return Err(Error::bad_request("bulk-time").with("most", &ANSWER_MAX));
    }
    let names = attributes(agents, tenant, new).await?;
    let connections = connections(agents, tenant, &new.rows).await?;
    let mut wrong = Vec::new();
    for (number, row) in (1_usize..).zip(&new.rows) {
        let unfit = match connections.get(row.connection_id.as_str()) {
            Some(true) => misfit(&names, &row.attributes),
            _ => Some("its connection is not one of this agent's".to_owned()),
        };
        if let Some(why) = unfit {
            wrong.push(format!("row {number}: {why}"));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let count = wrong.len();
    wrong.truncate(NAMED_MAX);
    Err(Error::bad_request("bulk-rows")
        .with("count", &count)
        .with("rows", &wrong.join("; ")))
}

/// The names of the attributes that each row needs. Offering once shows that the definition is the tenant's own.
async fn attributes(agents: &Agents, tenant: &TenantId, new: &NewBulk) -> Result<BTreeSet<String>> {
    let of = new.filter.definitions();
    let offer = agents.anoncreds().offer(tenant, &of).await?;
    // The agent makes the handles of credentials that can be used once.
    let asked = offer.attributes.into_iter().filter(|name| name != HANDLE);
    Ok(asked.collect())
}

/// Which of the rows' connections exist.
async fn connections<'a>(
    agents: &Agents,
    tenant: &TenantId,
    rows: &'a [BulkRow],
) -> Result<HashMap<&'a str, bool>> {
    let mut known = HashMap::new();
    for row in rows {
        let id = row.connection_id.as_str();
        if known.contains_key(id) {
            continue;
        }
        let exists = match agents.connection(tenant, id).await {
            Ok(_) => true,
            Err(error) if error.kind == ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        known.insert(id, exists);
    }
    Ok(known)
}

/// Why the values of a row do not fit; `None` if they do.
fn misfit(names: &BTreeSet<String>, values: &BTreeMap<String, String>) -> Option<String> {
    let missing = names.iter().find(|name| !values.contains_key(*name));
    if let Some(missing) = missing {
        return Some(format!("the attribute {missing} is missing"));
    }
    let strange = values.keys().find(|name| !names.contains(*name));
    strange.map(|name| format!("the schema has no attribute {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_exactly_the_attributes_of_the_schema() {
        let names: BTreeSet<String> = ["dose", "name"].map(str::to_owned).into();
        let values = |given: &[&str]| -> BTreeMap<String, String> {
            let given = given.iter();
            given
                .map(|name| ((*name).to_owned(), "1".to_owned()))
                .collect()
        };
        assert_eq!(misfit(&names, &values(&["name", "dose"])), None);
        let missing = misfit(&names, &values(&["name"])).unwrap();
        assert_eq!(missing, "the attribute dose is missing");
        let strange = misfit(&names, &values(&["name", "dose", "lot"])).unwrap();
        assert_eq!(strange, "the schema has no attribute lot");
    }
}
