//! Credentials for people who sign in at the provider of the same organisation (OpenID4VCI 1.0 §5).

use std::collections::BTreeMap;

use selfsame_core::machine::FlowOrigin;
use selfsame_credential::Format;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_oauth::{AuthorizationDetail, ScopeSet};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_openid4vc::issuer::{Granted, IssuanceState, credential, offer, token};
use selfsame_openid4vc::wire::credential::CredentialAnswer;
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, Tag};
use selfsame_types::CredentialType;
use selfsame_types::fill::split;
use serde_json::{Map, Value};

use super::offers::{OFFER, OfferRecord, STATE_TAG};
use super::protocol::{GRANT, GrantRecord, read};
use super::{CredentialSubject, Current, Issuer};
use crate::refusal::refusal;
use crate::view::issuer::NewOffer;

/// How often a grant is tried to be written while others write it or its offer.
const RACES_MAX: usize = 4;

/// An access token of the provider that is valid now, and the person it stands for.
#[derive(Clone, Debug)]
pub struct TokenBySignIn {
    /// The token.
    pub token: SecretString,
    /// The client that has it.
    pub client_id: String,
    /// Its scopes; one that is the id of a type grants the credentials of that type.
    pub scope: ScopeSet,
    /// The credentials that it grants one by one; if there are any, the scopes grant none.
    pub details: Vec<AuthorizationDetail>,
    /// The `issuer_state` of the authorization request.
    pub issuer_state: Option<String>,
    /// What the person agreed to tell.
    pub claims: Map<String, Value>,
    /// When it ends.
    pub expires: UnixTime,
}

/// The id of a grant's record. A token may be for several credentials, and a record is for the data of one.
fn grant_id(by: &TokenBySignIn, configuration: &str) -> String {
    let parts = [by.token.expose().as_bytes(), configuration.as_bytes()];
    base64url_encode(&sha256_parts(&parts))
}

/// A configuration, and the type and the format that it is of.
type IssuedKind<'c> = (String, &'c CredentialType, Format);

impl Issuer {
    /// The credential endpoint, for the access token of somebody who signed in.
    ///
    /// # Errors
    /// OpenID4VCI 1.0 §8.3.1 or RFC 6750 §3.1, with the code; `credential_request_denied` if too little is known of the
    /// person.
    pub async fn credential_by_sign_in(
        &self,
        by: &TokenBySignIn,
        body: &[u8],
    ) -> Result<CredentialAnswer> {
        let current = self.current().await?;
        let request = read(body, &current)?;
        let granted = self.granted(by, &current);
        let wanted = credential::configuration_of(&granted, &request, &current.settings);
        let wanted = wanted.map_err(refusal)?.to_owned();
        let id = grant_id(by, &wanted);
        let grant = GrantRecord {
            state: IssuanceState::Granted(granted),
            subject: self.subject(by, &current, &wanted)?,
            origin: Some(FlowOrigin::new(self.shared.clock.now())),
            awaited: Vec::new(),
        };
        self.write_grant(&id, by, grant).await?;
        let response = self.issue(&id, &request, current).await?;
        let ctx = self.shared.clock.ctx();
        CredentialAnswer::of(response, &request, &ctx).map_err(refusal)
    }

    /// Whether its metadata name the provider of its organisation as an authorization server.
    #[must_use]
    pub fn names_provider(&self) -> bool {
        !self.context.config.issuer.by_sign_in.is_empty()
    }

    /// The ids of the records that a token may have.
    pub(super) async fn grants_of(&self, by: &TokenBySignIn) -> Result<Vec<String>> {
        let granted = self.granted(by, &*self.current().await?);
        let named = granted.credentials.keys();
        Ok(named.map(|wanted| grant_id(by, wanted)).collect())
    }

    /// What people get by signing in.
    fn kinds<'c>(&'c self, current: &'c Current) -> impl Iterator<Item = IssuedKind<'c>> {
        let issuing = &self.context.config.issuer;
        let listed = current.types.listed(self.shared.clock.now());
        let is_given = |id| issuing.by_sign_in.contains_key(id);
        let listed = listed.filter(move |one| is_given(&one.id) && one.prerequisites.is_none());
        listed.flat_map(|one| {
            let formats = issuing.formats.iter().copied();
            let formats = formats.filter(|format| one.is_issued_as(*format));
            formats.map(move |format| (one.configuration_id(format), &**one, format))
        })
    }

    /// What a token grants: the credentials of its authorization details, else those of its scopes.
    fn granted(&self, by: &TokenBySignIn, current: &Current) -> Granted {
        let named = by.details.iter().map(|detail| {
            let identifier = detail.credential_identifiers.iter().flatten().next();
            let id = detail.credential_configuration_id.clone();
            (id, identifier.cloned())
        });
        let by_scope = self.kinds(current);
        let by_scope = by_scope.filter(|(_, one, _)| by.scope.has(&one.id));
        let credentials = match by.details.is_empty() {
            false => named.collect(),
            true => by_scope.map(|(id, ..)| (id, None)).collect(),
        };
        Granted {
            offer_id: String::new(),
            token_hash: token::token_hash(&by.token),
            expires: by.expires,
            client_id: Some(by.client_id.clone()),
            credentials,
            issued: BTreeMap::new(),
        }
    }

    /// The contents of the credential of a configuration: what is known of the person.
    fn subject(
        &self,
        by: &TokenBySignIn,
        current: &Current,
        configuration: &str,
    ) -> Result<CredentialSubject> {
        let found = self.kinds(current).find(|(id, ..)| id == configuration);
        let (_, one, format) = found.ok_or_else(|| {
            let code = CredentialCode::UnknownCredentialConfiguration.as_str();
            Error::bad_request("configuration-not-by-sign-in").with_code(code)
        })?;
        let sources = self.context.config.issuer.by_sign_in.get(&one.id).cloned();
        let filled = one.fill_from_person(&sources.unwrap_or_default(), &by.claims);
        let denied = CredentialCode::CredentialRequestDenied.as_str();
        let mut claims = filled.map_err(|error| error.with_code(denied))?;
        Ok(CredentialSubject {
            type_id: one.id.clone(),
            version: Some(one.version),
            format: format.as_str().to_owned(),
            kept: split(one, &mut claims),
            claims,
            label: None,
            offer: String::new(),
            application: None,
        })
    }

    /// Writes a grant, unless it is there, and with it that its offer was accepted.
    async fn write_grant(
        &self,
        id: &str,
        by: &TokenBySignIn,
        mut grant: GrantRecord,
    ) -> Result<()> {
        let (store, tenant) = (&self.shared.store, self.tenant());
        for _ in 0..RACES_MAX {
            let mut batch = Batch::new(tenant.clone()).expect(GRANT, id, Expect::Absent);
            if let Some((mut offer, record)) = self.offered(by).await? {
                grant.subject.label = offer.subject.label.clone();
                grant.subject.offer = record.id.clone();
                offer.accepted = Some(self.shared.clock.now());
                if let IssuanceState::Offered(open) = &offer.state {
                    offer.state = token::after_use(open);
                }
                batch = batch.update(OFFER, &record, encode(&offer)?);
            }
            let put = Put::new(GRANT, id, encode(&grant)?).expires(by.expires);
            match store.commit(batch.put(put)).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { kind, .. }) if kind == GRANT => return Ok(()),
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::internal("a grant is written without end"))
    }

    /// The offer that led here, if there is one. It authorises nothing (OpenID4VCI 1.0 §5.1.3).
    async fn offered(&self, by: &TokenBySignIn) -> Result<Option<(OfferRecord, Record)>> {
        let state = by.issuer_state.as_deref().unwrap_or_default();
        let tag = Tag::hashed(STATE_TAG, base64url_encode(&offer::code_hash(state)));
        let (store, one) = (&self.shared.store, Page::first(1));
        let found = store.find(self.tenant(), OFFER, &tag, &one).await?;
        let read = |record: Record| Ok((decode(&record.value)?, record));
        found.into_iter().next().map(read).transpose()
    }

    /// The provider that the people sign in at whom an offer is for; `None` for an offer without sign-in.
    ///
    /// # Errors
    /// `BadRequest` for a type that is not issued by sign-in, and for an offer with claims or a transaction code.
    pub(super) fn sign_in_of(
        &self,
        new: &NewOffer,
        one: &CredentialType,
    ) -> Result<Option<String>> {
        let is_issued = self.context.config.issuer.by_sign_in.contains_key(&one.id);
        let has_claims = new.tx_code || new.examples || !new.claims.is_empty();
        let other = || Error::bad_request("type-not-by-sign-in").with("type", &one.id);
        match new.by_sign_in {
            false => Ok(None),
            true if !is_issued => Err(other()),
            true if has_claims => Err(Error::bad_request("offer-by-sign-in-claims")),
            true => self.context.sign_in(),
        }
    }
}
