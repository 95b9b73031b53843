//! Saved requests of a verifier: stored, listed, opened by programs and by visitors of their link.

use std::sync::Arc;

use selfsame_core::organisation::trust::TrustInAll;
use selfsame_crypto::SecretString;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, Put, Record, Store, TenantId};
use serde::{Deserialize, Serialize};

use selfsame_openid::verifier::{Occasion, Verifier, Visit, WantedRequest, can_be_checked};
use selfsame_openid_view::verifier::{NewRequest, VerificationRequest};
use selfsame_types::TypeSet;
use selfsame_types::asked::definition::RequestDefinition;
use selfsame_types::asked::listed::{RequestOpening, SavedRequest};

use selfsame_asked::check::{checked, or_refused};
use selfsame_asked::compile::{CompiledRequest, compile};
use selfsame_asked::preview::preview;
use selfsame_asked::shown::RequestCheck;

/// The kind of the records that hold saved requests.
const SAVED: &str = "saved_request";
/// Maximum number of saved requests of an organisation: one page of the store.
const SAVED_MAX: u64 = 500;
/// Maximum number of characters of a reference.
const REFERENCE_MAX: usize = 128;

/// A saved request as it is stored.
#[derive(Deserialize, Serialize)]
struct SavedRecord {
    definition: RequestDefinition,
    changed: UnixTime,
}

/// A visitor who opens a saved request by its link.
#[derive(Clone, Copy)]
pub struct Visitor<'a> {
    /// The secret of their browser.
    pub browser: &'a str,
    /// The origin of the page that opened the link, if it is to be told the result.
    pub from: Option<&'a str>,
}

/// A page of the organisation on which a browser is asked.
#[derive(Clone, Copy, Debug)]
pub struct AskingPage<'a> {
    /// Its path below the organisation's base. The id of the request is appended for the way back.
    pub path: &'a str,
    /// The secret of the browser.
    pub browser: &'a SecretString,
}

/// What is found in a form.
pub struct FormReview {
    /// What the query would show a holder, if there is one.
    pub found: Option<RequestCheck>,
    /// All that is wrong.
    pub refusals: Vec<Reason>,
}

/// The saved requests of a verifier.
#[derive(Clone, Copy)]
pub struct SavedRequests<'a>(&'a Verifier);

impl<'a> SavedRequests<'a> {
    /// Those of this verifier.
    #[must_use]
    pub fn of(verifier: &'a Verifier) -> Self {
        Self(verifier)
    }

    fn store(self) -> &'a Store {
        &self.0.shared().store
    }

    fn tenant(self) -> &'a TenantId {
        self.0.tenant()
    }

    async fn types(self) -> Result<Arc<TypeSet>> {
        self.0.types().await
    }

    /// The saved requests, in the order in which they were created.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(self) -> Result<Vec<SavedRequest>> {
        let page = Page::first(MAX_PAGE);
        let records = self.store().list(self.tenant(), SAVED, &page).await?;
        records
            .iter()
            .map(|record| self.saved_view(record))
            .collect()
    }

    /// One saved request.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn one(self, name: &str) -> Result<SavedRequest> {
        let record = self.store().read(self.tenant(), SAVED, name).await?;
        let record = record.ok_or_else(|| not_saved(name))?;
        self.saved_view(&record)
    }

    /// Saves a new request.
    ///
    /// # Errors
    /// `BadRequest` for a definition that is refused; `Conflict` if its name is taken; `Full` if there are too many.
    pub async fn create(self, definition: &RequestDefinition) -> Result<SavedRequest> {
        let name = &definition.name;
        match self.save_request(definition, Expect::Absent).await {
            Err(error) if error.kind == ErrorKind::Conflict => {
                Err(Error::new(ErrorKind::Conflict, "saved-name-taken").with("name", name))
            }
            saved => saved,
        }
    }

    /// Replaces a saved request, or saves a new one. Requests that were opened before stay as they are.
    ///
    /// # Errors
    /// `BadRequest` for a definition that is refused or has another name; `Conflict` if it no longer has the version
    /// that the caller has seen.
    pub async fn replace(
        self,
        name: &str,
        definition: &RequestDefinition,
        seen: Option<u64>,
    ) -> Result<SavedRequest> {
        if definition.name != name {
            return Err(Error::bad_request("saved-name-other")
                .with("name", &definition.name)
                .with("address", name));
        }
        let version = match seen {
            Some(version) => Some(version),
            None => self.store().version(self.tenant(), SAVED, name).await?,
        };
        let expect = version.map_or(Expect::Absent, Expect::Version);
        self.save_request(definition, expect).await
    }

    /// Deletes a saved request. Requests that were opened before stay as they are.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete(self, name: &str) -> Result<()> {
        let version = self.store().version(self.tenant(), SAVED, name).await?;
        let version = version.ok_or_else(|| not_saved(name))?;
        let batch = Batch::new(self.tenant().clone())
            .expect(SAVED, name, Expect::Version(version))
            .delete(SAVED, name);
        self.store().commit(batch).await?;
        Ok(())
    }

    /// Checks a definition, and says what it would show a holder. Nothing is stored.
    ///
    /// # Errors
    /// `BadRequest` for a definition that is refused.
    pub async fn check(self, definition: &RequestDefinition) -> Result<RequestCheck> {
        let compiled = self.compiled(definition).await?;
        self.preview_of(&compiled).await
    }

    /// All that is wrong with what a form describes, and what its query would show a holder.
    ///
    /// # Errors
    /// The store's.
    pub async fn review_form(
        self,
        described: std::result::Result<RequestDefinition, Reason>,
    ) -> Result<FormReview> {
        let types = self.types().await?;
        let definition = match described {
            Ok(definition) => definition,
            Err(reason) => {
                return Ok(FormReview {
                    found: None,
                    refusals: vec![reason],
                });
            }
        };
        Ok(FormReview {
            found: match compile(&definition, &types) {
                Ok(compiled) => Some(self.preview_of(&compiled).await?),
                Err(_) => None,
            },
            refusals: checked(&definition, &types).err().unwrap_or_default(),
        })
    }

    /// Saves what a form describes: a new request, or the one that had this version when the form was made. A refusal
    /// that a person can put right is returned.
    ///
    /// # Errors
    /// The store's; `Full` if there are too many.
    pub async fn save_form(
        self,
        described: std::result::Result<RequestDefinition, Reason>,
        seen: Option<u64>,
    ) -> Result<std::result::Result<SavedRequest, Reason>> {
        let definition = match described {
            Ok(definition) => definition,
            Err(reason) => return Ok(Err(reason)),
        };
        let saved = match seen {
            None => self.create(&definition).await,
            Some(version) => {
                self.save_request(&definition, Expect::Version(version))
                    .await
            }
        };
        match saved {
            Ok(saved) => Ok(Ok(saved)),
            Err(error) if matches!(error.kind, ErrorKind::BadRequest | ErrorKind::Conflict) => {
                Ok(Err(error.reason))
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a request from a saved one.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is switched off; `BadRequest` if the types it asks for have changed.
    pub async fn open(self, name: &str, opening: &RequestOpening) -> Result<VerificationRequest> {
        let saved = self.enabled(name).await?;
        let occasion = of_saved(name, opening)?;
        self.made(saved.definition, occasion).await
    }

    /// Asks the browser at a page of this organisation for what a definition describes, which need not be saved. In the
    /// same-device flow the wallet sends the browser below that page.
    ///
    /// # Errors
    /// `BadRequest` for a definition that is refused; `Unavailable` while visitors have too many requests open.
    pub async fn ask_on_page(
        self,
        definition: RequestDefinition,
        page: &AskingPage<'_>,
    ) -> Result<VerificationRequest> {
        let visit = Visit {
            browser: sha256(page.browser.expose().as_bytes()),
            place: page.path.to_owned(),
            query: String::new(),
        };
        let occasion = Occasion {
            visit: Some(visit),
            ..Occasion::default()
        };
        self.made(definition, occasion).await
    }

    /// Asks for what a definition describes, which need not be saved.
    ///
    /// # Errors
    /// `BadRequest` for a definition that is refused.
    pub async fn ask(self, definition: RequestDefinition) -> Result<VerificationRequest> {
        self.made(definition, Occasion::default()).await
    }

    /// A saved request for a visitor of its link.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is switched off; `Forbidden` for a page whose origin it does not list.
    pub async fn visited(self, name: &str, from: Option<&str>) -> Result<SavedRequest> {
        let saved = self.enabled(name).await?;
        let origins = &saved.definition.origins;
        match from.filter(|from| !origins.iter().any(|origin| origin == from)) {
            None => Ok(saved),
            Some(_) => Err(Error::new(ErrorKind::Forbidden, "saved-origin-unlisted")),
        }
    }

    /// Creates a request from a saved one for a visitor of its link; returns the path of its page.
    ///
    /// # Errors
    /// As [`Self::visited`]; `Unavailable` while visitors have too many requests open.
    pub async fn open_for_visitor(
        self,
        name: &str,
        opening: &RequestOpening,
        visitor: Visitor<'_>,
    ) -> Result<String> {
        let saved = self.visited(name, visitor.from).await?;
        let query = visitor.from.map(|from| {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            format!("?{}", query.append_pair("from", from).finish())
        });
        let query = query.unwrap_or_default();
        let visit = Visit {
            browser: sha256(visitor.browser.as_bytes()),
            place: format!("ask/{name}"),
            query: query.clone(),
        };
        let occasion = Occasion {
            visit: Some(visit),
            ..of_saved(name, opening)?
        };
        let opened = self.made(saved.definition, occasion).await?;
        Ok(format!("ask/{name}/{}{query}", opened.id))
    }

    async fn enabled(self, name: &str) -> Result<SavedRequest> {
        let saved = self.one(name).await?;
        match saved.definition.enabled {
            true => Ok(saved),
            false => Err(Error::new(ErrorKind::Gone, "saved-disabled")),
        }
    }

    async fn made(
        self,
        definition: RequestDefinition,
        occasion: Occasion,
    ) -> Result<VerificationRequest> {
        let CompiledRequest { query, issuers } = self.compiled(&definition).await?;
        let new = NewRequest {
            same_device: definition.same_device,
            spend: definition.spend,
            max_status_age: definition.policy.max_status_age,
            ..NewRequest::default()
        };
        let wanted = WantedRequest {
            query,
            title: definition.title,
            purpose: Some(definition.purpose),
            occasion: Occasion {
                issuers,
                ..occasion
            },
        };
        self.0.ask(&new, wanted).await
    }

    async fn save_request(
        self,
        definition: &RequestDefinition,
        expect: Expect,
    ) -> Result<SavedRequest> {
        let compiled = self.compiled(definition).await?;
        let new = NewRequest {
            spend: definition.spend,
            ..NewRequest::default()
        };
        self.0.check_spender(&new, &compiled.query).await?;
        let (tenant, store) = (self.tenant(), self.store());
        if matches!(expect, Expect::Absent)
            && store.count(tenant, SAVED, SAVED_MAX).await? >= SAVED_MAX
        {
            return Err(Error::new(ErrorKind::Full, "saved-full").with("maximum", &SAVED_MAX));
        }
        let record = SavedRecord {
            definition: definition.clone(),
            changed: self.0.shared().clock.now(),
        };
        let batch = Batch::new(tenant.clone())
            .expect(SAVED, &definition.name, expect)
            .put(Put::new(SAVED, &definition.name, encode(&record)?));
        store.commit(batch).await?;
        self.one(&definition.name).await
    }

    async fn compiled(self, definition: &RequestDefinition) -> Result<CompiledRequest> {
        let types = self.types().await?;
        let compiled = or_refused(checked(definition, &types))?;
        can_be_checked(&compiled.query)?;
        Ok(compiled)
    }

    /// With advice for each named issuer that is not trusted: naming it here does not make it trusted.
    async fn preview_of(self, compiled: &CompiledRequest) -> Result<RequestCheck> {
        let types = self.types().await?;
        let mut found = preview(compiled, &types);
        let trusted = self.0.shared().trust.now();
        let entries = &self.0.trust().now().await?.entries;
        let all = TrustInAll::of(&trusted, self.0.own_issuers(), entries);
        let mut unknown: Vec<&String> = compiled.issuers.values().flatten().collect();
        unknown.retain(|name| !all.issuers.contains(name));
        unknown.sort();
        unknown.dedup();
        let advice = unknown
            .into_iter()
            .map(|name| Reason::new("saved-issuer-untrusted").with("issuer", name));
        found.advice.extend(advice);
        Ok(found)
    }

    fn saved_view(self, record: &Record) -> Result<SavedRequest> {
        let SavedRecord {
            definition,
            changed,
        } = decode(&record.value)?;
        let link = self.0.organisation().url(&format!("ask/{}", record.id))?;
        Ok(SavedRequest {
            definition,
            link: link.into(),
            version: record.version,
            changed: changed.rfc3339(),
        })
    }
}

/// The occasion of a request that is opened from a saved one.
fn of_saved(name: &str, opening: &RequestOpening) -> Result<Occasion> {
    let reference = opening.reference.clone().filter(|text| !text.is_empty());
    if let Some(text) = &reference
        && (text.chars().nth(REFERENCE_MAX).is_some() || text.chars().any(char::is_control))
    {
        return Err(Error::bad_request("reference-long").with("maximum", &REFERENCE_MAX));
    }
    Ok(Occasion {
        saved: Some(name.to_owned()),
        reference,
        ..Occasion::default()
    })
}

fn not_saved(name: &str) -> Error {
    Error::not_found("saved-unknown").with("name", name)
}
