//! Proofs of entries by the organisation's agent: to peers on its connections, and to verifiers whose requests anybody
//! brings.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use async_trait::async_trait;
use selfsame_agent_view::attachments::first;
use selfsame_anoncreds_wallet::show::MayShow;
use selfsame_anoncreds_wallet::{ChosenCredentials, CredentialInfo};
use selfsame_aries::exchange::Spoken;
use selfsame_aries::formats::{anoncreds, hlindy};
use selfsame_aries::out_of_band::{OobInvitation, OobMessage, read_message};
use selfsame_aries::present_proof::{ProofMessage, ProofSpeech};
use selfsame_aries::wire::Incoming;
use selfsame_book::entry::AnonCredsEntry;
use selfsame_book_view::ProvenEntry;
use selfsame_crypto::hash::sha256_parts;
use selfsame_didcomm::Version;
use selfsame_driver::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

use super::{claims, entry_id};
use crate::books::{Book, NamedRequests};

/// The names of the formats of requests that are answered.
const FORMATS: [&str; 2] = [hlindy::FORMAT.name, anoncreds::FORMAT.name];

/// A verifier's request that is attached to an invitation.
struct BroughtRequest {
    /// The invitation.
    members: Map<String, Value>,
    /// The presentation request of AnonCreds.
    request: Vec<u8>,
}

/// What the book shows: all its entries, or one of them.
struct ShownEntries<'a> {
    book: &'a Book,
    /// The identifier of the only one in the wallet of the agent.
    only: Option<String>,
}

/// A request of which it is said for a while which credential is to answer it.
struct NamedFor<'a> {
    named: &'a NamedRequests,
    request: [u8; 32],
}

#[async_trait]
impl MayShow for ShownEntries<'_> {
    async fn may_show(&self, info: &CredentialInfo, names: &[&str]) -> Result<bool> {
        if self
            .only
            .as_ref()
            .is_some_and(|only| *only != info.referent)
        {
            return Ok(false);
        }
        let id = entry_id(info);
        let entry = match self.book.entry(&id).await {
            Ok((_, entry)) => entry,
            Err(error) if matches!(error.kind, ErrorKind::Gone | ErrorKind::NotFound) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        if self.book.is_revoked(&id).await? {
            return Ok(false);
        }
        let types = self.book.types().await?;
        let newest = types.newest(&entry.type_id);
        let mapping = newest.and_then(|one| one.book.as_deref());
        Ok(mapping.is_some_and(|mapping| {
            let mut names = names.iter();
            names.all(|name| claims::is_shown(mapping, name))
        }))
    }
}

impl Book {
    /// The credentials with which the agent answers a request of anybody: entries of the book, and claims that it shows.
    /// `None` while the policy says so, or if something else is asked for.
    ///
    /// # Errors
    /// `BadRequest` if the request is not one, or if it was brought to an entry and there is no answer: nothing else of the
    /// wallet answers it; the store's.
    pub async fn public_choice(&self, request: &[u8]) -> Result<Option<ChosenCredentials>> {
        let key = self.request_key(request);
        let only = named(self.named_requests()).get(&key).cloned();
        let is_brought = only.is_some();
        if !self.policy().await?.proofs_by_agent {
            return match is_brought {
                true => Err(Error::bad_request("book-proof-agent-off")),
                false => Ok(None),
            };
        }
        let shown = ShownEntries { book: self, only };
        let choice = self
            .anoncreds()
            .choice_among(self.tenant(), request, &shown);
        let choice = choice.await?;
        match choice {
            Some(_) => {
                tracing::info!("a request for a proof is answered with what the book shows");
            }
            None if is_brought => return Err(Error::bad_request("book-proof-agent-unfit")),
            None => {}
        }
        Ok(choice)
    }

    /// What a request is known by while it is answered.
    fn request_key(&self, request: &[u8]) -> [u8; 32] {
        let tenant = self.tenant().as_str();
        let tenant_length = (tenant.len() as u64).to_be_bytes();
        sha256_parts(&[&tenant_length, tenant.as_bytes(), request])
    }

    /// Has the agent answer a request that a verifier attached to an invitation, with the credential of an entry.
    ///
    /// # Errors
    /// `BadRequest` if the policy of the book does not let it, if it is no such invitation, or asks for something else.
    pub(crate) async fn prove_by_agent(
        &self,
        held: &AnonCredsEntry,
        link: &str,
    ) -> Result<ProvenEntry> {
        if !self.policy().await?.proofs_by_agent {
            return Err(Error::bad_request("book-proof-agent-off"));
        }
        let brought = brought(link)?;
        let shown = ShownEntries {
            book: self,
            only: Some(held.referent.clone()),
        };
        let anoncreds = self.anoncreds();
        let choice = anoncreds.choice_among(self.tenant(), &brought.request, &shown);
        if choice.await?.is_none() {
            return Err(Error::bad_request("book-proof-agent-unfit"));
        }
        let key = self.request_key(&brought.request);
        let _named = NamedFor::new(self.named_requests(), key, &held.referent);
        // What the exchange says is wrong is for the agent's controllers alone: whoever called is anybody.
        match self.agents().answer(self.tenant(), brought.members).await? {
            true => Ok(ProvenEntry { redirect_uri: None }),
            false => Err(Error::bad_request("book-proof-agent-failed")),
        }
    }
}

/// The request that is attached to an invitation, which asks for nothing else: no connection is made for a proof.
fn brought(link: &str) -> Result<BroughtRequest> {
    let none = |detail: &dyn std::fmt::Display| {
        Error::bad_request("book-proof-invitation").with("detail", &detail.to_string())
    };
    let message = read_message(link).map_err(|error| none(&error))?;
    let members = message.to_members(Version::V1);
    let incoming = Incoming::<OobMessage>::read(&message).map_err(|error| none(&error))?;
    let OobMessage::Invitation(invitation) = incoming.content else {
        return Err(none(&"it is no invitation"));
    };
    let OobInvitation {
        requests,
        handshake_protocols,
        ..
    } = invitation;
    let [attached] = &requests[..] else {
        return Err(none(&"it needs one attached request"));
    };
    if !handshake_protocols.is_empty() {
        return Err(none(&"it asks for a connection"));
    }
    let asked = Incoming::<ProofSpeech>::read(attached).map_err(|error| none(&error))?;
    let payload = match (asked.content.kind, asked.content.content) {
        (ProofMessage::Request, Spoken::Payload(payload)) => payload,
        _ => return Err(none(&"its attachment is no request for a presentation")),
    };
    let request = first(Some(&*payload))?;
    if !FORMATS.contains(&request.format.name) {
        return Err(none(&"its request is of another format"));
    }
    Ok(BroughtRequest {
        request: request.bytes.to_vec(),
        members,
    })
}

impl<'a> NamedFor<'a> {
    fn new(requests: &'a NamedRequests, request: [u8; 32], referent: &str) -> Self {
        named(requests).insert(request, referent.to_owned());
        Self {
            named: requests,
            request,
        }
    }
}

impl Drop for NamedFor<'_> {
    fn drop(&mut self) {
        named(self.named).remove(&self.request);
    }
}

fn named(requests: &NamedRequests) -> MutexGuard<'_, HashMap<[u8; 32], String>> {
    requests.lock().unwrap_or_else(PoisonError::into_inner)
}
