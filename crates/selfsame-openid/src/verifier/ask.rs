//! Creates requests, and waits for their verdicts.

use std::collections::BTreeMap;
use std::time::Duration;

use selfsame_credential::Format;
use selfsame_credential::single_use::HANDLE;
use selfsame_crypto::{encoding, hash};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::dcql::DcqlQuery;
use selfsame_openid4vc::formats::formats;
use selfsame_openid4vc::verifier::VerificationState;
use selfsame_openid4vc::verifier::request::{self, NewRequest as Draft};
use selfsame_openid4vc::wire::client_metadata::ClientMetadata;
use selfsame_openid4vc::wire::request::{ClientId, RequestUriMethod};
use selfsame_store::{Batch, Put};
use selfsame_types::TypeSet;
use selfsame_types::model::text_of;
use selfsame_types::project::dcql;
use serde::de::DeserializeOwned;

use super::signing::hash_of;
use super::{RequestRecord, VERIFICATION, Verifier, unknown_format};
use crate::config::{ClientIdPrefix, ResponseMode};
use crate::refusal::refusal;
use crate::view::verifier::{NewRequest, VerificationRequest, VerificationStatus};
use selfsame_core::below;
use selfsame_core::certificate::Certificate;
use selfsame_core::events::{Event, EventKind};
use selfsame_core::machine::FlowOrigin;

/// Seconds for which a verdict can be read.
const KEPT_SECONDS: u64 = 7 * 24 * 3600;

/// Seconds for which the verdict of a visitor's request can be read: fewer, since visitors can make many requests.
const KEPT_OF_VISITORS: u64 = 24 * 3600;

/// What a request is made of beside its options.
pub struct WantedRequest {
    /// The query.
    pub query: DcqlQuery,
    /// Its title for the organisation.
    pub title: String,
    /// What the person is told.
    pub purpose: Option<String>,
    /// Where it comes from.
    pub occasion: Occasion,
}

/// Where a request comes from.
#[derive(Default)]
pub struct Occasion {
    /// The saved request that it was opened from.
    pub saved: Option<String>,
    /// The text of the one who opened it.
    pub reference: Option<String>,
    /// The issuers to accept a type from.
    pub issuers: BTreeMap<String, Vec<String>>,
    /// The visit of someone who opened it by its link.
    pub visit: Option<Visit>,
}

/// A visit of someone who opened a saved request by its link.
pub struct Visit {
    /// SHA-256 of the secret of their browser.
    pub browser: [u8; 32],
    /// What the path of the result begins with.
    pub place: String,
    /// The query of that path; empty for a path without a query.
    pub query: String,
}

impl Visit {
    fn result(&self, id: &str) -> String {
        format!("{}/{id}{}", self.place, self.query)
    }
}

impl Verifier {
    /// Creates a request.
    ///
    /// # Errors
    /// `BadRequest` if the request is not possible.
    pub async fn create_request(&self, new: &NewRequest) -> Result<VerificationRequest> {
        let types = self.context.types_now().await?;
        let (query, title) = self.query(new, &types)?;
        let of_type = || new.type_id.is_some().then(|| title.clone());
        let purpose = new.purpose.clone().or_else(of_type);
        let wanted = WantedRequest {
            query,
            title,
            purpose,
            occasion: Occasion::default(),
        };
        self.ask(new, wanted).await
    }

    /// Creates a request with this query.
    ///
    /// # Errors
    /// `BadRequest` if the request is not possible; `Unavailable` while visitors have too many requests open.
    pub async fn ask(
        &self,
        new: &NewRequest,
        wanted: WantedRequest,
    ) -> Result<VerificationRequest> {
        let spender = self.spender_of(new, &wanted.query).await?;
        let ctx = self.shared.clock.ctx();
        let id = encoding::base64url_encode(&ctx.random::<16>("request/id"));
        let mut draft = self.draft(&id, new, &wanted)?;
        // An unsigned request proves no name, so it shows no logo either.
        if draft.client.is_signed() {
            let look = self.context.look(&self.shared).await?;
            draft.metadata.logo_uri = look.logo_url(&self.context.organisation)?;
        }
        let created = request::create(draft, &ctx).map_err(refusal)?;
        let uri = request::link(&created.asked, None).map_err(refusal)?;
        let uri = self.context.config.verifier.invoking(uri);
        let expires = created.asked.expires;
        let binding = new.same_device.then(|| ctx.token("request/browser"));
        let Occasion {
            saved,
            reference,
            issuers,
            visit,
        } = wanted.occasion;
        let hash = |secret: &String| hash::sha256(secret.as_bytes());
        let browser = match &visit {
            Some(visit) => Some(visit.browser),
            None => binding.as_ref().map(hash),
        };
        let record = RequestRecord {
            state: VerificationState::Created(created),
            title: wanted.title,
            created: ctx.now(),
            max_status_age: new.max_status_age,
            browser,
            spender,
            spending: None,
            saved,
            reference,
            issuers,
            origin: Some(FlowOrigin::new(ctx.now())),
        };
        let mut batch = Batch::new(self.tenant().clone());
        let mut kept = KEPT_SECONDS;
        if visit.is_some() {
            batch = batch.put(self.place_of_visitor(&id, expires).await?);
            kept = KEPT_OF_VISITORS;
        }
        let put = Put::new(VERIFICATION, &id, encode(&record)?).expires(ctx.now().plus(kept));
        let event = Event::new(EventKind::Verification, &id);
        let committed = self.shared.events.commit(batch.put(put), event).await?;
        self.records.hold(&committed, record);
        Ok(VerificationRequest {
            id,
            uri,
            expires: expires.rfc3339(),
            browser_binding: binding.filter(|_| visit.is_none()),
        })
    }

    /// What the protocol's request is made of.
    fn draft(&self, id: &str, new: &NewRequest, wanted: &WantedRequest) -> Result<Draft> {
        let url = |path: String| self.context.organisation.url(&path);
        let response_uri = url(format!("verifier/responses/{id}"))?;
        let client = self.client(new, &response_uri)?;
        // An unsigned request proves no name, so it states no name.
        let client_name = client.is_signed().then(|| self.name());
        let request_uri = match client.is_signed() {
            true => Some(url(format!("verifier/requests/{id}"))?),
            false => None,
        };
        let request_uri_method = request_uri_method(new, request_uri.is_some())?;
        let redirect_uri = match (new.same_device, &wanted.occasion.visit) {
            (true, Some(visit)) => Some(url(visit.result(id))?),
            // The browser that made the request shows the result; only where its people work has it the cookie for that.
            (true, None) => {
                let workplace = self
                    .context
                    .organisation
                    .workplace(&self.shared.config.origin)?;
                Some(below(&workplace, &format!("verifier/results/{id}"))?)
            }
            (false, _) => None,
        };
        let config = &self.context.config.verifier;
        let mode = new.response_mode.as_deref();
        let mode = named(mode, config.response_mode)
            .ok_or_else(|| Error::bad_request("response-mode-unknown"))?;
        config.check_request(&client, mode, &wanted.query)?;
        let said = new.transaction_data.as_deref().unwrap_or_default();
        let transactions = request::transactions(said, &wanted.query, &config.transaction_types);
        Ok(Draft {
            client,
            response_uri,
            request_uri,
            request_uri_method,
            redirect_uri,
            query: wanted.query.clone(),
            metadata: ClientMetadata {
                client_name,
                ..formats()
            },
            purpose: wanted.purpose.clone(),
            transaction_data: transactions.map_err(refusal)?,
            encrypted: mode == ResponseMode::DirectPostJwt,
            lifetime: config.request_lifetime,
        })
    }

    /// A request with its verdict.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn request(&self, id: &str) -> Result<VerificationStatus> {
        let (record, version) = self.record(id).await?;
        let status = self.view(id, &record);
        self.records.keep(version, record);
        self.named(status).await
    }

    /// The requests, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn requests(&self, paging: &Paging) -> Result<Listing<VerificationStatus>> {
        let store = &self.shared.store;
        let records = store
            .list(self.tenant(), VERIFICATION, &page(paging))
            .await?;
        let names = self.names().await?;
        listing(&records, paging, |record| {
            let mut status = self.view(&record.id, &decode(&record.value)?);
            names.name(&mut status);
            Ok(status)
        })
    }

    /// Waits for a verdict, at most this number of seconds (and at most 60).
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn wait(&self, id: &str, seconds: u64) -> Result<VerificationStatus> {
        let mut events = self.shared.events.reader().await?;
        let patience = tokio::time::sleep(Duration::from_secs(seconds.min(60)));
        tokio::pin!(patience);
        loop {
            let status = self.request(id).await?;
            if status.state.is_over() {
                return Ok(status);
            }
            let expiry = super::expiry(status.open_for);
            tokio::pin!(expiry);
            let is_it = |event: Event| event.kind == EventKind::Verification && event.id == id;
            loop {
                tokio::select! {
                    () = &mut patience => return self.request(id).await,
                    () = &mut expiry => break,
                    // The awaited event may be among those that were missed.
                    event = events.next() => if event.is_none_or(is_it) { break },
                }
            }
        }
    }

    fn query(&self, new: &NewRequest, types: &TypeSet) -> Result<(DcqlQuery, String)> {
        let wrong = |error: selfsame_openid4vc::dcql::DcqlError| {
            Error::bad_request("rule-broken").with("detail", &error)
        };
        let titled = |title: &str| new.purpose.clone().unwrap_or_else(|| title.to_owned());
        match (&new.dcql_query, &new.type_id) {
            (Some(query), None) => {
                let query = DcqlQuery::parse(query).map_err(wrong)?;
                can_be_checked(&query)?;
                Ok((query, titled("Custom query")))
            }
            (None, Some(id)) => {
                let one = types.find(id)?;
                let typical = one.typical_request();
                let format = match new.format.as_deref() {
                    Some(name) => Format::of_people()
                        .find(|format| format.as_str() == name)
                        .ok_or_else(unknown_format)?,
                    None => one.usual_format(),
                };
                let claims = new.claims.as_ref().unwrap_or(&typical.claims);
                if let Some(unknown) = claims.iter().find(|path| !one.may_be_asked(format, path)) {
                    return Err(Error::bad_request("claim-not-of-type")
                        .with("claim", &unknown.join("."))
                        .with("type", &one.id));
                }
                let mut claims = claims.clone();
                let handle = vec![HANDLE.to_owned()];
                if new.spend && !claims.contains(&handle) {
                    if !one.may_be_asked(format, &handle) {
                        return Err(Error::bad_request("credential-not-single-use"));
                    }
                    claims.push(handle);
                }
                let query = dcql(one, format, &claims)?;
                let title = titled(text_of(&typical.title));
                Ok((DcqlQuery::parse(&query).map_err(wrong)?, title))
            }
            _ => Err(Error::bad_request("query-ambiguous")),
        }
    }

    fn certificate(&self) -> Result<&Certificate> {
        let certificate = self.context.verifier_certificate.as_ref();
        certificate.ok_or_else(|| Error::bad_request("verifier-certificate-absent"))
    }

    fn client(&self, new: &NewRequest, response_uri: &url::Url) -> Result<ClientId> {
        let configured = self.context.config.verifier.client_id_prefix;
        let prefix = new.client_id_prefix.as_deref();
        let unknown = || Error::bad_request("client-prefix-unsupported");
        match named(prefix, configured).ok_or_else(unknown)? {
            ClientIdPrefix::RedirectUri => Ok(ClientId::RedirectUri(response_uri.clone())),
            ClientIdPrefix::DecentralizedIdentifier => {
                Ok(ClientId::DecentralizedIdentifier(self.client_did()))
            }
            ClientIdPrefix::X509SanDns => {
                Ok(ClientId::X509SanDns(self.certificate()?.name.clone()))
            }
            ClientIdPrefix::X509Hash => Ok(hash_of(self.certificate()?)),
        }
    }
}

/// What a request names, if it is known; without a name, what is configured.
fn named<T: DeserializeOwned>(name: Option<&str>, configured: T) -> Option<T> {
    let read = |name: &str| serde_json::from_value(name.into()).ok();
    name.map_or(Some(configured), read)
}

/// How the request object is fetched; one that is part of the link is not fetched.
fn request_uri_method(new: &NewRequest, is_fetched: bool) -> Result<RequestUriMethod> {
    let method = RequestUriMethod::parse(new.request_uri_method.as_deref()).map_err(refusal)?;
    match method {
        RequestUriMethod::Post if !is_fetched => Err(Error::bad_request("redirect-uri-unfetched")),
        method => Ok(method),
    }
}

/// Refuses a query if no answer to it could be verified: every way to meet a requirement has an unsupported format.
///
/// # Errors
/// `BadRequest` with `vp_formats_not_supported`.
pub fn can_be_checked(query: &DcqlQuery) -> Result<()> {
    match query.can_be_checked() {
        true => Ok(()),
        false => Err(unknown_format().with_code("vp_formats_not_supported")),
    }
}
