//! The export of an organisation: lines of JSON, read part by part, so that no part needs more memory than a page.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use selfsame_audit::AuditFilter;
use selfsame_core::identity::Identity;
use selfsame_core::organisation::OrganisationName;
use selfsame_did::{Did, Options};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::{Error, Result};
use selfsame_operators::{Area, Right, Rights};
use selfsame_saved_requests::SavedRequests;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Access, App};
use crate::OrganisationRoles;

/// The name of the format in the first line.
const FORMAT: &str = "selfsame-organisation";
/// The version of the format. Readers skip kinds that they do not know; a change that they can't skip raises it.
const VERSION: u64 = 1;
/// Records that are read at once, and types and definitions, which are longer.
const RECORDS: usize = 200;
const TYPES: usize = 10;
/// A part ends with the page after which it has this length, in bytes.
const PART_BYTES: usize = 1024 * 1024;

/// An organisation to export, and the caller's rights in it.
#[derive(Clone, Debug)]
pub struct ExportWish {
    /// The organisation.
    pub organisation: OrganisationName,
    /// The caller's rights. The export leaves out sections that they do not allow to read; its first line names these.
    pub rights: Rights,
}

/// A part of an export.
#[derive(Clone, Debug)]
struct ExportedPart {
    /// Its lines, each with a line feed.
    text: String,
    /// Where the next part begins; `None` after the last.
    next: Option<ExportPosition>,
}

/// The texts of an export, each read when the one before it was taken.
pub type Exported = BoxStream<'static, Result<String>>;

/// Where a part begins, as text `SECTION.LINES.CURSOR`.
#[derive(Clone, Debug, Eq, PartialEq)]
struct ExportPosition {
    section: usize,
    /// The lines before it.
    lines: u64,
    /// The cursor within the section; empty at its beginning.
    cursor: String,
}

/// What an export consists of, in this order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ExportSection {
    Organisation,
    Dids,
    Types,
    AnonCreds,
    Credentials,
    Requests,
    SavedRequests,
    People,
    Keys,
    Webhooks,
    TrustedIssuers,
    Audit,
}

impl ExportSection {
    const ALL: [Self; 12] = [
        Self::Organisation,
        Self::Dids,
        Self::Types,
        Self::AnonCreds,
        Self::Credentials,
        Self::Requests,
        Self::SavedRequests,
        Self::People,
        Self::Keys,
        Self::Webhooks,
        Self::TrustedIssuers,
        Self::Audit,
    ];

    /// The kind of its lines.
    const fn kind(self) -> &'static str {
        match self {
            Self::Organisation => "organisation",
            Self::Dids => "did",
            Self::Types => "type",
            Self::AnonCreds => "anoncreds_definition",
            Self::Credentials => "credential",
            Self::Requests => "request",
            Self::SavedRequests => "saved_request",
            Self::People => "person",
            Self::Keys => "api_key",
            Self::Webhooks => "webhook",
            Self::TrustedIssuers => "trusted_issuer",
            Self::Audit => "audit_entry",
        }
    }

    /// The right that reading this section needs; `None` if the right to export includes it.
    const fn needed(self) -> Option<Right> {
        Some(match self {
            Self::Organisation | Self::Dids => return None,
            Self::Types | Self::AnonCreds => Area::Types.read(),
            Self::Credentials => Area::Issuer.read(),
            Self::Requests | Self::SavedRequests => Area::Verifier.read(),
            Self::People | Self::Keys => Area::People.read(),
            Self::Webhooks => Area::Webhooks.read(),
            Self::TrustedIssuers => Area::Settings.read(),
            Self::Audit => Area::Audit.read(),
        })
    }

    fn is_allowed(self, rights: Rights) -> bool {
        self.needed().is_none_or(|right| rights.has(right))
    }
}

impl ExportPosition {
    /// The beginning.
    const fn first() -> Self {
        Self {
            section: 0,
            lines: 0,
            cursor: String::new(),
        }
    }

    /// Parses a position.
    ///
    /// # Errors
    /// `BadRequest` if the text is not a position.
    fn parse(text: &str) -> Result<Self> {
        let malformed = || Error::bad_request("export-position-malformed");
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next().ok_or_else(malformed);
        let (section, lines, cursor) = (next()?, next()?, next()?);
        let section = section
            .parse()
            .ok()
            .filter(|at| *at < ExportSection::ALL.len());
        Ok(Self {
            section: section.ok_or_else(malformed)?,
            lines: lines.parse().map_err(|_| malformed())?,
            cursor: cursor.to_owned(),
        })
    }
}

impl std::fmt::Display for ExportPosition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            section,
            lines,
            cursor,
        } = self;
        write!(formatter, "{section}.{lines}.{cursor}")
    }
}

/// The lines of a part, as they are written.
#[derive(Default)]
struct ExportLines {
    text: String,
    count: u64,
}

impl ExportLines {
    fn line(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
        self.count = self.count.saturating_add(1);
    }
}

/// A place within a section.
#[derive(Clone, Copy)]
struct SectionPlace<'a> {
    section: ExportSection,
    /// The cursor of a page; empty for the first one.
    cursor: &'a str,
}

/// Some records of a section, and the cursor of the next ones.
type SectionPage = Listing<Value>;

impl App {
    /// The export of an organisation: all of it, or one part, which begins at `after`, or at the beginning if that is
    /// empty. A part that is not the last ends with a line of the kind `more`.
    ///
    /// # Errors
    /// `BadRequest` if `after` is not a position, and the errors of reading each section.
    pub async fn exported(
        self: Arc<Self>,
        wish: ExportWish,
        after: Option<&str>,
    ) -> Result<Exported> {
        let from = after.filter(|after| !after.is_empty());
        let from = from.map_or(Ok(ExportPosition::first()), ExportPosition::parse)?;
        let ExportedPart { mut text, mut next } = self.export(&wish, &from).await?;
        if after.is_some()
            && let Some(next) = next.take()
        {
            let more = json!({"kind": "more", "after": next.to_string()});
            text.push_str(&format!("{more}\n"));
        }
        let rest = stream::try_unfold((self, wish, next), async |(app, wish, next)| {
            let Some(at) = next else {
                return Ok(None);
            };
            let ExportedPart { text, next } = app.export(&wish, &at).await?;
            Ok(Some((text, (app, wish, next))))
        });
        Ok(stream::once(async move { Ok(text) }).chain(rest).boxed())
    }

    /// A part of the export of an organisation. Private keys, the secrets of API keys and webhooks, and offers, which
    /// could be taken, are never among its lines.
    ///
    /// # Errors
    /// `NotFound`; `Gone` for one that is erased; the store's.
    async fn export(&self, wish: &ExportWish, at: &ExportPosition) -> Result<ExportedPart> {
        self.is_not_erased(&wish.organisation).await?;
        let (mut lines, mut at) = (ExportLines::default(), at.clone());
        if at == ExportPosition::first() {
            lines.line(&self.export_header(wish));
            at.lines = lines.count;
        }
        while let Some(section) = ExportSection::ALL.get(at.section).copied() {
            if lines.text.len() >= PART_BYTES {
                let (text, next) = (lines.text, Some(at));
                return Ok(ExportedPart { text, next });
            }
            let before = lines.count;
            let next = match section.is_allowed(wish.rights) {
                true => {
                    let place = SectionPlace {
                        section,
                        cursor: &at.cursor,
                    };
                    self.section_lines(wish, place, &mut lines).await?
                }
                false => None,
            };
            at.lines = at.lines.saturating_add(lines.count.saturating_sub(before));
            at.section = at.section.saturating_add(usize::from(next.is_none()));
            at.cursor = next.unwrap_or_default();
        }
        lines.line(&json!({"kind": "end", "lines": at.lines.saturating_add(1)}));
        let text = lines.text;
        Ok(ExportedPart { text, next: None })
    }

    /// Writes a page of a section; returns the cursor of its next one.
    async fn section_lines(
        &self,
        wish: &ExportWish,
        place: SectionPlace<'_>,
        lines: &mut ExportLines,
    ) -> Result<Option<String>> {
        let page = self.section(&wish.organisation, place).await?;
        for record in page.items {
            lines.line(&json!({"kind": place.section.kind(), "record": record}));
        }
        Ok(page.next)
    }

    fn export_header(&self, wish: &ExportWish) -> Value {
        let left_out = ExportSection::ALL.into_iter();
        let left_out = left_out.filter(|section| !section.is_allowed(wish.rights));
        let left_out = left_out.map(|section| {
            let needs = section.needed().map(|right| right.to_string());
            json!({"kind": section.kind(), "needs": needs})
        });
        json!({
            "kind": "header",
            "format": FORMAT,
            "version": VERSION,
            "organisation": wish.organisation,
            "exported": self.clock().now().rfc3339(),
            "left_out": left_out.collect::<Vec<_>>(),
        })
    }

    async fn section(
        &self,
        name: &OrganisationName,
        place: SectionPlace<'_>,
    ) -> Result<SectionPage> {
        let paging = Paging {
            after: Some(place.cursor.to_owned()).filter(|cursor| !cursor.is_empty()),
            limit: Some(RECORDS),
        };
        match place.section {
            ExportSection::Organisation => self.exported_organisation(name).await,
            ExportSection::Dids => self.exported_dids(name).await,
            ExportSection::Types => self.exported_types(name, &paging).await,
            ExportSection::AnonCreds => match self.exporting(name).await?.publisher() {
                Ok(issuer) => {
                    let limit = Some(TYPES);
                    let paging = Paging { limit, ..paging };
                    self.publishing.exported(issuer, &paging).await
                }
                Err(_) => Ok(whole(Vec::new())),
            },
            ExportSection::Credentials => match self.exporting(name).await?.publisher() {
                Ok(issuer) => values(issuer.issued(None, &paging).await?),
                Err(_) => Ok(whole(Vec::new())),
            },
            ExportSection::Requests => match self.exporting(name).await?.verifier() {
                Ok(verifier) => values(verifier.requests(&paging).await?),
                Err(_) => Ok(whole(Vec::new())),
            },
            ExportSection::SavedRequests => match self.exporting(name).await?.verifier() {
                Ok(verifier) => {
                    let items = SavedRequests::of(verifier).list().await?;
                    values(Listing { items, next: None })
                }
                Err(_) => Ok(whole(Vec::new())),
            },
            ExportSection::People => values(self.operators.people(name, &paging).await?),
            ExportSection::Keys => values(self.operators.keys(name, &paging).await?),
            ExportSection::Webhooks => {
                let roles = self.exporting(name).await?;
                let owner = Self::webhook_owner(&roles.organisation);
                let items = self.webhooks.endpoints(&owner).await?;
                values(Listing { items, next: None })
            }
            ExportSection::TrustedIssuers => match self.exporting(name).await?.verifier() {
                Ok(verifier) => {
                    let items = verifier.trust().now().await?.entries.clone();
                    values(Listing { items, next: None })
                }
                Err(_) => Ok(whole(Vec::new())),
            },
            ExportSection::Audit => {
                let filter = AuditFilter {
                    after: paging.after,
                    limit: paging.limit,
                    ..AuditFilter::default()
                };
                values(self.trail.list(name, &filter).await?)
            }
        }
    }

    /// The roles of an organisation that is exported.
    async fn exporting(&self, name: &OrganisationName) -> Result<Arc<OrganisationRoles>> {
        match name.is_main() {
            true => Ok(self.main().clone()),
            false => self.roles_of(name, Access::Reading).await,
        }
    }

    async fn exported_organisation(&self, name: &OrganisationName) -> Result<SectionPage> {
        let Some(hosted) = self.organisations().find(name).await? else {
            // The organisation that every instance has is one of settings, and has no record.
            let roles = self.exporting(name).await?;
            let identifier = &roles.organisation.identifier;
            let look = roles.look().await?;
            let main = json!({"name": name, "identifier": identifier, "look": look});
            return Ok(whole(vec![main]));
        };
        let view = self.organisations().view(&hosted)?;
        Ok(whole(vec![value(&view)?]))
    }

    async fn exported_dids(&self, name: &OrganisationName) -> Result<SectionPage> {
        let roles = self.exporting(name).await?;
        let issuer = roles.publisher().ok().map(|issuer| issuer.identity());
        let verifier = roles.verifier().ok().map(|verifier| verifier.identity());
        let mut names: Vec<&Did> = Vec::new();
        for identity in issuer.into_iter().chain(verifier) {
            let identity: &Identity = identity;
            names.extend(identity.portable());
            names.push(identity.did());
        }
        names.dedup();
        let mut dids = Vec::new();
        for did in names {
            let resolution = self.resolve(did, &Options::default()).await;
            dids.push(json!({"did": did, "document": resolution.document}));
        }
        Ok(whole(dids))
    }

    /// Types with their definitions; the samples, which come with the program, are left out.
    async fn exported_types(&self, name: &OrganisationName, at: &Paging) -> Result<SectionPage> {
        let roles = self.exporting(name).await?;
        let Ok(issuer) = roles.publisher() else {
            return Ok(whole(Vec::new()));
        };
        let done = at.after.as_deref().unwrap_or("0").parse::<usize>();
        let done = done.map_err(|_| Error::bad_request("export-position-malformed"))?;
        let all = issuer.types().list().await?;
        let own = all.iter().filter(|one| !one.sample).skip(done);
        let mut items = Vec::new();
        for one in own.clone().take(TYPES) {
            items.push(value(&self.type_shown(issuer, &one.id).await?)?);
        }
        let next = done.saturating_add(TYPES);
        let next = own.clone().nth(TYPES).map(|_| next.to_string());
        Ok(Listing { items, next })
    }
}

fn whole(items: Vec<Value>) -> SectionPage {
    Listing { items, next: None }
}

fn values<T: Serialize>(listing: Listing<T>) -> Result<SectionPage> {
    let items = listing.items.iter().map(value).collect::<Result<_>>()?;
    let next = listing.next;
    Ok(Listing { items, next })
}

fn value(record: &impl Serialize) -> Result<Value> {
    serde_json::to_value(record).map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_position_is_parsed_from_what_it_is_written_as(
            section in 0..ExportSection::ALL.len(),
            lines: u64,
            cursor in "[a-zA-Z0-9._-]{0,40}",
        ) {
            let position = ExportPosition { section, lines, cursor };
            prop_assert_eq!(ExportPosition::parse(&position.to_string()), Ok(position));
        }

        #[test]
        fn any_other_text_is_refused_or_a_position(text in ".{0,40}") {
            if let Ok(position) = ExportPosition::parse(&text) {
                prop_assert!(position.section < ExportSection::ALL.len());
            }
        }
    }
}
