//! The page of an organisation's audit trail, and its download.

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::response::IntoResponse as _;
use futures_util::stream::{self, Stream};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use http::request::Parts;
use selfsame_audit::{AuditFilter, Trail};
use selfsame_core::organisation::OrganisationName;
use selfsame_driver::Error;
use selfsame_pages::audit::{AuditPage, ShownTrail, acts};

use super::Frame;
use crate::api::audit::NDJSON;
use crate::error::{Handled, Problem};
use crate::extract::Working;
use crate::server::Server;

/// The trail of the organisation whose address was called.
pub struct TrailHere {
    trail: Trail,
    organisation: OrganisationName,
}

impl FromRequestParts<Server> for TrailHere {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let work = Working::from_request_parts(parts, server).await?;
        Ok(Self {
            trail: server.app().trail().clone(),
            organisation: work.organisation,
        })
    }
}

/// The acts that a filter admits, in the words of the API's description, and the head of the chain.
pub async fn page(
    here: TrailHere,
    frame: Frame,
    filter: AuditFilter,
    description: &'static str,
) -> Handled {
    let TrailHere {
        trail,
        organisation,
    } = here;
    let whole_days = AuditFilter {
        until: filter.until.as_deref().map(end_of_day),
        ..filter.clone()
    };
    let mut anchors = trail.anchors(organisation.as_str(), 1).await?;
    let shown = ShownTrail {
        entries: trail.list(&organisation, &whole_days).await?,
        head: trail.head(&organisation).await?,
        anchor: anchors.pop(),
        filter,
    };
    let words = acts::all(description);
    super::html(&AuditPage::of(frame, shown, |act| words.get(act).cloned()))
}

/// The whole trail as one download. One part of it is in memory at a time.
pub async fn export(here: TrailHere) -> Handled {
    here.trail.chain_all().await?;
    let name = here.organisation.as_str();
    let name = format!("attachment; filename=\"audit-{name}.ndjson\"");
    let headers = [
        (CONTENT_TYPE, NDJSON.to_owned()),
        (CONTENT_DISPOSITION, name),
    ];
    Ok((headers, Body::from_stream(parts(here))).into_response())
}

/// The parts of a trail, each read when the one before it was taken.
fn parts(here: TrailHere) -> impl Stream<Item = Result<Bytes, Error>> + Send {
    stream::try_unfold((here, Some(0)), async |(here, after)| {
        let Some(after) = after else {
            return Ok(None);
        };
        let part = here.trail.export(&here.organisation, after).await?;
        Ok(Some((Bytes::from(part.text()), (here, part.next))))
    })
}

/// The end of a day, which is among those that are shown. Any other text stays.
fn end_of_day(until: &str) -> String {
    match until.len() {
        10 => format!("{until}T24"),
        _ => until.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_day_is_shown_whole() {
        let end = end_of_day("2026-11-27");
        assert!("2026-11-27T23:59:59Z" < end.as_str());
        assert!("2026-11-28T00:00:00Z" > end.as_str());
        assert_eq!(end_of_day("2026-11"), "2026-11");
        assert_eq!(end_of_day(""), "");
    }
}
