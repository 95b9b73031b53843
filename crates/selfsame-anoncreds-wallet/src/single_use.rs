//! Single use: a credential whose schema has the attribute `single_use_handle` is used up, or revoked on its issuer's
//! behalf, by writing its handle to the registry. The first use of a handle is the only one, and every verifier that is
//! shown the handle sees it.

use std::time::Duration;

use selfsame_anoncreds::format::{Message as _, Presentation, PresentationRequest};
use selfsame_core::dids::Author;
use selfsame_core::dids::Dids;
use selfsame_core::registry::{
    DELEGATIONS_MAX, WantedDelegation, delegation_name, newest_delegation,
};
pub use selfsame_credential::single_use::HANDLE;

use selfsame_credential::single_use::Action as SeenAction;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, selfsame};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::{Identifier, Operation, Receipt};
use selfsame_store::{Batch, Expect, Put, StoreError, TenantId};

use crate::error::refused;
use crate::uses::{ShownHandle, USE, UseProgress, UseRecord, shown};
use crate::wallet::AnonCreds;

pub use crate::uses::UsedUp;

/// How long a request waits for the registry, and the pause between two looks.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// What is to happen to a credential whose handle was shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HandleAct {
    /// It is used up.
    UseUp,
    /// It is revoked.
    Revoke,
}

/// A presentation with its request.
#[derive(Clone, Copy, Debug)]
pub struct ShownProof<'a> {
    /// The JSON of the request.
    pub request: &'a [u8],
    /// The JSON of the presentation.
    pub presentation: &'a [u8],
}

/// Somebody who may use up or revoke credentials of a definition on their issuer's behalf.
#[derive(Clone, Debug)]
pub struct NewDelegate<'a> {
    /// Their DID, which is the registry's.
    pub did: &'a Did,
    /// The credential definition.
    pub cred_def_id: &'a str,
    /// What they may do.
    pub act: HandleAct,
    /// When it ends.
    pub until: UnixTime,
}

impl HandleAct {
    fn action(self) -> Action {
        match self {
            Self::UseUp => Action::Consume,
            Self::Revoke => Action::Revoke,
        }
    }
}

/// A new handle, for a credential that can be used once.
#[must_use]
pub fn new_handle(ctx: &Ctx) -> String {
    base64url_encode(&ctx.random::<32>("single_use/handle"))
}

/// Whether credentials with these attributes can be used once.
#[must_use]
pub fn is_single_use(attributes: &[String]) -> bool {
    attributes.iter().any(|name| name == HANDLE)
}

impl AnonCreds {
    /// Uses up the credential whose handle a valid presentation reveals, or revokes it, as this author. Waits until the
    /// registry has it. The same again gives the same result.
    ///
    /// # Errors
    /// `BadRequest` if the presentation is not valid or reveals no handle, and if the credential was used up or revoked
    /// by somebody else; `Forbidden` if its issuer did not delegate it to the author; `Unavailable` if the registry has
    /// not answered yet: it is called until it does.
    pub async fn use_up(
        &self,
        author: &Author,
        proof: ShownProof<'_>,
        act: HandleAct,
    ) -> Result<UsedUp> {
        let ShownProof {
            request,
            presentation,
        } = proof;
        let handle = self.handle_shown(request, presentation).await?;
        let id = handle.record_id(act.action());
        let known = self.use_of(&author.tenant, &id).await?;
        let is_ordered = known
            .as_ref()
            .is_some_and(|(known, _)| !matches!(known.progress, UseProgress::Refused { .. }));
        if !is_ordered {
            let verdict = self.verify(request, presentation).await?;
            if !verdict.is_valid {
                return Err(Error::bad_request("anoncreds-use-invalid")
                    .with("why", &verdict.messages.join(", ")));
            }
            let expected = known.map_or(Expect::Absent, |(_, version)| Expect::Version(version));
            self.order(author, &handle, act, expected).await?;
        }
        self.used(&author.tenant, &id).await
    }

    /// Lets another DID use up or revoke credentials of a definition of this author, until a time.
    ///
    /// # Errors
    /// `BadRequest` for a DID that is not the registry's or a definition of another; the registry's.
    pub async fn delegate_use(&self, author: &Author, new: &NewDelegate<'_>) -> Result<Receipt> {
        let own = self.publication_of(&author.tenant, new.cred_def_id).await?;
        if own.is_none() {
            return Err(Error::not_found("anoncreds-object-absent").with("id", new.cred_def_id));
        }
        let elsewhere = || Error::bad_request("did-not-of-registry").with("did", new.did);
        let (network, _) = selfsame::parts(new.did).ok_or_else(elsewhere)?;
        let to = Identifier::of_did(new.did, &network).ok_or_else(elsewhere)?;
        let action = new.act.action();
        let registry = self.shared.own_registry()?;
        for number in 1..=DELEGATIONS_MAX {
            let name = delegation_name(new.did, action, number).ok_or_else(elsewhere)?;
            if registry.delegation(&author.did, &name).await?.is_some() {
                continue;
            }
            let delegation = Delegation {
                name,
                to,
                scope: vec![new.cred_def_id.to_owned()],
                action,
                until: new.until,
            };
            let operations = vec![Operation::Delegate(delegation)];
            let dids = Dids::new(self.shared.clone());
            let transaction = dids.signed_together(author, operations).await?;
            return registry.submit(&transaction).await;
        }
        Err(Error::new(ErrorKind::Conflict, "delegations-too-many")
            .with("maximum", &DELEGATIONS_MAX))
    }

    /// The findings for credentials that were used up or revoked by the handles that a presentation reveals.
    ///
    /// # Errors
    /// The registry's, if it can't be asked.
    pub(crate) async fn used_handles(
        &self,
        request: &PresentationRequest,
        presentation: &Presentation,
    ) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for handle in self.handles(request, presentation).await? {
            let (used, _) = self.shared.own_registry()?.used(&handle.key()).await?;
            if let Some(used) = used {
                let what = match used.action {
                    SeenAction::Spent => "used up",
                    SeenAction::Revoked => "revoked",
                };
                let at = used.at.rfc3339();
                found.push(format!(
                    "VERIFY_ERROR::single_use: {what} at {at} by {}",
                    used.by
                ));
            }
        }
        Ok(found)
    }

    /// The handles that a presentation reveals.
    async fn handles(
        &self,
        request: &PresentationRequest,
        presentation: &Presentation,
    ) -> Result<Vec<ShownHandle>> {
        let mut handles = Vec::new();
        for found in shown(request, presentation) {
            let known = self.objects.definition(&found.cred_def_id).await?;
            if let Some(known) = known {
                handles.extend(found.of(known.definition.issuer_id.as_str()));
            }
        }
        Ok(handles)
    }

    /// The one handle that a presentation reveals.
    async fn handle_shown(&self, request: &[u8], presentation: &[u8]) -> Result<ShownHandle> {
        let request = PresentationRequest::from_json(request).map_err(refused)?;
        let presentation = Presentation::from_json(presentation).map_err(refused)?;
        let mut handles = self.handles(&request, &presentation).await?;
        handles.dedup();
        match handles.pop() {
            Some(one) if handles.is_empty() => Ok(one),
            _ => Err(Error::bad_request("handle-not-shown")),
        }
    }

    /// Writes the order in one commit with the call of the registry, and makes the call.
    async fn order(
        &self,
        author: &Author,
        handle: &ShownHandle,
        act: HandleAct,
        expected: Expect,
    ) -> Result<()> {
        let elsewhere = || Error::bad_request("issuer-without-registry");
        let (network, _) = selfsame::parts(&handle.issuer).ok_or_else(elsewhere)?;
        let issuer = Identifier::of_did(&handle.issuer, &network).ok_or_else(elsewhere)?;
        let action = act.action();
        let delegation = match handle.issuer == author.did {
            true => None,
            false => Some(self.delegated(author, handle, action).await?),
        };
        let consume = Operation::Consume(Consume {
            issuer,
            kind: handle.kind.clone(),
            handle: handle.handle,
            action,
            delegation,
        });
        let transaction = self.uses.signed(author, consume).await?;
        let record = UseRecord::ordered(&transaction);
        let id = handle.record_id(action);
        let call = self.uses.entry(&id, author, &transaction)?;
        let batch = Batch::new(author.tenant.clone())
            .expect(USE, &id, expected)
            .put(Put::new(USE, &id, encode(&record)?))
            .enqueue(call);
        match self.shared.store.commit(batch).await {
            Ok(committed) => {
                let first = committed.outbox.last().copied();
                // An error is logged there, and the outbox goes on.
                drop(self.shared.go_on(&self.uses, first).await);
                Ok(())
            }
            // Another request was faster.
            Err(StoreError::Conflict { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The name of the issuer's delegation to the author.
    async fn delegated(
        &self,
        author: &Author,
        handle: &ShownHandle,
        action: Action,
    ) -> Result<String> {
        let wanted = WantedDelegation {
            issuer: &handle.issuer,
            by: &author.did,
            action,
            kind: &handle.kind,
            now: self.shared.clock.now(),
        };
        let registry = self.shared.own_registry()?;
        let newest = newest_delegation(&**registry, &wanted).await?;
        newest.ok_or_else(|| {
            Error::new(ErrorKind::Forbidden, "delegation-absent")
                .with("by", &author.did)
                .with("action", action.name())
        })
    }

    async fn use_of(&self, tenant: &TenantId, id: &str) -> Result<Option<(UseRecord, u64)>> {
        let read = self.shared.store.read(tenant, USE, id).await?;
        read.map(|read| Ok((decode(&read.value)?, read.version)))
            .transpose()
    }

    /// Waits until the registry has answered.
    async fn used(&self, tenant: &TenantId, id: &str) -> Result<UsedUp> {
        let waiting = async {
            loop {
                match self
                    .use_of(tenant, id)
                    .await?
                    .map(|(known, _)| known.progress)
                {
                    Some(UseProgress::Done(used)) => return Ok(used),
                    Some(UseProgress::Refused { reason }) => {
                        return Err(Error::bad_request("use-failed").because(reason));
                    }
                    Some(UseProgress::Pending { .. }) => tokio::time::sleep(PAUSE).await,
                    None => return Err(Error::internal("a use has gone")),
                }
            }
        };
        let late = || {
            let kind = ErrorKind::Unavailable { retry_after: 5 };
            Error::new(kind, "anoncreds-use-late")
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        waited.unwrap_or_else(|_| Err(late()))
    }
}
