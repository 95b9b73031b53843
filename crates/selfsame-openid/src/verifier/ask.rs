//! Creates requests, and waits for their verdicts.

use std::collections::BTreeMap;
use std::time::Duration;

use selfsame_credential::Format;
use selfsame_credential::format::Profile;
use selfsame_credential::single_use::HANDLE;
use selfsame_crypto::{Algorithm, encoding, hash};
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::dcql::{CredentialSet, DcqlQuery};
use selfsame_openid4vc::verifier::VerificationState;
use selfsame_openid4vc::verifier::request::{self, NewRequest as Draft};
use selfsame_openid4vc::wire::client_metadata::{ClientMetadata, VpFormat};
use selfsame_openid4vc::wire::request::{ClientId, RequestUriMethod};
use selfsame_store::{Batch, Put};
use selfsame_types::TypeSet;
use selfsame_types::model::text_of;
use selfsame_types::project::dcql;

use super::{RequestRecord, VERIFICATION, Verifier, unknown_format};
use crate::config::ClientIdPrefix;
use crate::refusal::refusal;
use crate::saved::compile::may_be_asked;
use crate::view::verifier::{NewRequest, VerificationRequest, VerificationStatus};
use selfsame_core::below;
use selfsame_core::events::{Event, EventKind};
use selfsame_core::machine::FlowOrigin;

/// Seconds for which a verdict can be read.
const KEPT_SECONDS: u64 = 7 * 24 * 3600;

/// Seconds for which the verdict of a visitor's request can be read: fewer, since visitors can make many requests.
const KEPT_OF_VISITORS: u64 = 24 * 3600;

/// What a request is made of beside its options.
pub(super) struct WantedRequest {
    pub query: DcqlQuery,
    pub title: String,
    pub purpose: Option<String>,
    pub occasion: Occasion,
}

/// Where a request comes from.
#[derive(Default)]
pub(super) struct Occasion {
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
pub(super) struct Visit {
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
    pub(super) async fn ask(
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
            lifetime: self.context.config.verifier.request_lifetime,
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
        match (&new.dcql_query, &new.type_id) {
            (Some(query), None) => {
                let query = DcqlQuery::parse(query).map_err(wrong)?;
                can_be_checked(&query)?;
                Ok((
                    query,
                    new.purpose
                        .clone()
                        .unwrap_or_else(|| "Custom query".to_owned()),
                ))
            }
            (None, Some(id)) => {
                let one = types.find(id)?;
                let typical = one.typical_request();
                let format = match new.format.as_deref() {
                    Some(name) => Format::of_people()
                        .find(|format| format.as_str() == name)
                        .ok_or_else(unknown_format)?,
                    None => Format::DEFAULT,
                };
                let claims = new.claims.as_ref().unwrap_or(&typical.claims);
                if let Some(unknown) = claims.iter().find(|path| !may_be_asked(one, format, path)) {
                    return Err(Error::bad_request("claim-not-of-type")
                        .with("claim", &unknown.join("."))
                        .with("type", &one.id));
                }
                let mut claims = claims.clone();
                let handle = vec![HANDLE.to_owned()];
                if new.spend && !claims.contains(&handle) {
                    if !may_be_asked(one, format, &handle) {
                        return Err(Error::bad_request("credential-not-single-use"));
                    }
                    claims.push(handle);
                }
                let query = dcql(one, format, &claims)?;
                let title = new
                    .purpose
                    .clone()
                    .unwrap_or_else(|| text_of(&typical.title).to_owned());
                Ok((DcqlQuery::parse(&query).map_err(wrong)?, title))
            }
            _ => Err(Error::bad_request("query-ambiguous")),
        }
    }

    fn client(&self, new: &NewRequest, response_uri: &url::Url) -> Result<ClientId> {
        let prefix = match &new.client_id_prefix {
            None => self.context.config.verifier.client_id_prefix,
            Some(name) => ClientIdPrefix::named(name)
                .ok_or_else(|| Error::bad_request("client-prefix-unsupported"))?,
        };
        match prefix {
            ClientIdPrefix::RedirectUri => Ok(ClientId::RedirectUri(response_uri.clone())),
            ClientIdPrefix::DecentralizedIdentifier => {
                Ok(ClientId::DecentralizedIdentifier(self.client_did()))
            }
            ClientIdPrefix::X509SanDns => {
                let certificate = self
                    .context
                    .verifier_certificate
                    .as_ref()
                    .ok_or_else(|| Error::bad_request("verifier-certificate-absent"))?;
                Ok(ClientId::X509SanDns(certificate.name.clone()))
            }
        }
    }
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
pub(super) fn can_be_checked(query: &DcqlQuery) -> Result<()> {
    let is_known = |id: &String| {
        let credential = query.credential(id);
        credential.is_some_and(|credential| credential.known_format().is_some())
    };
    let can_be_met = |set: &CredentialSet| set.options.iter().any(|ids| ids.iter().all(is_known));
    let sets = query.requirements();
    // If nothing is required, some optional set must be possible to answer.
    let mut required = sets.iter().filter(|set| set.required).peekable();
    let is_possible = match required.peek() {
        Some(_) => required.all(can_be_met),
        None => sets.iter().any(can_be_met),
    };
    if is_possible {
        return Ok(());
    }
    Err(unknown_format().with_code("vp_formats_not_supported"))
}

/// The formats that this verifier can verify.
fn formats() -> ClientMetadata {
    // OpenID4VP 1.0 B.3.4 asks for fully specified names (RFC 9864); `EdDSA` is for wallets that know only that name.
    let listed = [
        Algorithm::Es256,
        Algorithm::EdDsa,
        Algorithm::Es256k,
        Algorithm::Es384,
    ];
    let names = listed.into_iter().flat_map(Algorithm::names);
    let names: Vec<String> = names.map(str::to_owned).collect();
    let algorithms = || Some(names.clone());
    let sd_jwt = VpFormat {
        sd_jwt_alg_values: algorithms(),
        kb_jwt_alg_values: algorithms(),
        ..VpFormat::default()
    };
    let w3c = VpFormat {
        alg_values: algorithms(),
        ..VpFormat::default()
    };
    let supported = |format: Format| match format.describe().profile {
        Profile::SdJwtVc => (format.to_string(), sd_jwt.clone()),
        Profile::W3c | Profile::Compact => (format.to_string(), w3c.clone()),
    };
    ClientMetadata {
        vp_formats_supported: Format::of_people().map(supported).collect(),
        ..ClientMetadata::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_fully_specified_or_stands_beside_what_is() {
        for (format, listed) in formats().vp_formats_supported {
            let lists = [
                listed.alg_values,
                listed.sd_jwt_alg_values,
                listed.kb_jwt_alg_values,
            ];
            for names in lists.into_iter().flatten() {
                let expected = ["ES256", "Ed25519", "EdDSA", "ES256K", "ES384"];
                assert_eq!(names, expected, "{format}");
                assert!(names.iter().all(|name| name.parse::<Algorithm>().is_ok()));
            }
        }
    }
}
