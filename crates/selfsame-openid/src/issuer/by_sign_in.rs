//! Credentials for people who sign in at the provider of the same organisation (OpenID4VCI 1.0 §5).

use std::collections::BTreeMap;

use selfsame_core::machine::FlowOrigin;
use selfsame_credential::Format;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::error::CredentialCode;
use selfsame_openid4vc::issuer::{Granted, IssuanceState, credential, offer, token};
use selfsame_openid4vc::wire::credential::CredentialAnswer;
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, Tag};
use selfsame_types::CredentialType;
use selfsame_types::fill::split;

use super::offers::{OFFER, OfferRecord, STATE_TAG};
use super::protocol::{GRANT, GrantRecord, WalletAsk, read};
use super::{CredentialSubject, Current, Issuer};
use crate::refusal::refusal;
use crate::view::by_sign_in::{HeldGrant, TokenBySignIn};
use crate::view::issuer::NewOffer;

/// How often a grant is tried to be written while others write it or its offer.
const RACES_MAX: usize = 4;

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
        let held = self.held(by, &current, &wanted);
        let expires = held.until;
        let grant = GrantRecord {
            state: IssuanceState::Granted(Granted { expires, ..granted }),
            subject: self.subject(by, &current, &wanted)?,
            origin: Some(FlowOrigin::new(self.shared.clock.now())),
            awaited: Vec::new(),
            key: held.key.map(str::to_owned),
            account: Some(by.account()),
        };
        self.write_grant(&held, by, grant).await?;
        let asked = WalletAsk {
            grant: &held.id,
            key: held.key,
            request: &request,
            transaction: None,
        };
        let outcome = self.issue(asked, current).await?;
        let ctx = self.shared.clock.ctx();
        let wanted = request.response_encryption.as_ref();
        CredentialAnswer::to(outcome, wanted, &ctx).map_err(refusal)
    }

    /// Whether its metadata name the provider of its organisation as an authorization server.
    #[must_use]
    pub fn names_provider(&self) -> bool {
        !self.context.config.issuer.by_sign_in.is_empty()
    }

    /// The records that a token may have.
    pub(super) async fn grants_of<'b>(&self, by: &'b TokenBySignIn) -> Result<Vec<HeldGrant<'b>>> {
        let granted = self.granted(by, &*self.current().await?);
        let named = granted.credentials.keys();
        let both = |wanted: &String| [by.lasting_grant(wanted), by.grant(wanted)];
        Ok(named.flat_map(both).collect())
    }

    /// The record of a configuration. What somebody decides about or what counts once, a refresh does not begin anew.
    fn held<'b>(&self, by: &'b TokenBySignIn, current: &Current, wanted: &str) -> HeldGrant<'b> {
        let mut kinds = self.kinds(current);
        let counts_once = kinds.any(|(id, one, _)| id == wanted && one.single_use);
        match counts_once || self.approval().is_some() {
            true => by.lasting_grant(wanted),
            false => by.grant(wanted),
        }
    }

    /// What people get by signing in.
    fn kinds<'c>(&'c self, current: &'c Current) -> impl Iterator<Item = IssuedKind<'c>> {
        let listed = current.types.listed(self.shared.clock.now());
        let listed = listed.filter(|one| self.context.is_by_sign_in(one));
        listed.flat_map(|one| {
            let formats = self.context.formats();
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
            deferred: BTreeMap::new(),
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
            needs_approval: self.approval().unwrap_or_default(),
        })
    }

    /// Writes a grant, unless it is there, and with it that its offer was accepted.
    async fn write_grant(
        &self,
        held: &HeldGrant<'_>,
        by: &TokenBySignIn,
        mut grant: GrantRecord,
    ) -> Result<()> {
        let (store, tenant, id) = (&self.shared.store, self.tenant(), &*held.id);
        let by_settings = grant.subject.needs_approval;
        for _ in 0..RACES_MAX {
            let mut batch = Batch::new(tenant.clone()).expect(GRANT, id, Expect::Absent);
            let offered = self.offered(by).await?;
            let type_id = &grant.subject.type_id;
            let offered = offered.filter(|(offer, _)| offer.subject.type_id == *type_id);
            if let Some((mut offer, record)) = offered {
                let now = self.shared.clock.now();
                let is_open = matches!(offer.state, IssuanceState::Offered(_));
                // Anybody can repeat an `issuer_state`: an offer that is over spares nobody an approval.
                let is_spared = is_open && now < offer.expires;
                let by_offer = offer.subject.needs_approval;
                grant.subject.label = offer.subject.label.clone();
                grant.subject.offer = record.id.clone();
                grant.subject.needs_approval = by_offer || by_settings && !is_spared;
                offer.accepted = Some(now);
                if let IssuanceState::Offered(open) = &offer.state {
                    offer.state = token::after_use(open);
                }
                batch = batch.update(OFFER, &record, encode(&offer)?);
            }
            let put = Put::new(GRANT, id, encode(&grant)?).expires(held.until);
            match store.commit(batch.put(put)).await {
                Ok(_) => return Ok(()),
                Err(StoreError::Conflict { kind, .. }) if kind == GRANT => return Ok(()),
                Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Err(Error::internal("a grant is written without end"))
    }

    /// The offer that led here, if there is one; it may be of another type. It authorises nothing (OpenID4VCI 1.0 §5.1.3).
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
        let has_claims = new.tx_code || new.examples || !new.claims.is_empty();
        match new.by_sign_in {
            false => Ok(None),
            true if !self.context.is_by_sign_in(one) => {
                Err(Error::bad_request("type-not-by-sign-in").with("type", &one.id))
            }
            true if has_claims => Err(Error::bad_request("offer-by-sign-in-claims")),
            true => self.context.sign_in(),
        }
    }
}
