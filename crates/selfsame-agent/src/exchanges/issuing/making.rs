//! What a step of issuing needs and is not pure: offers, requests and credentials in the formats of attachments.

use selfsame_agent_view::attachments::{attached, first, known, named, of_format};
use selfsame_anoncreds_wallet::issue::NewIssuance;
use selfsame_anoncreds_wallet::single_use::{is_single_use, new_handle};
use selfsame_aries::exchange::{Formatted, Payload, Preview, PreviewAttribute, Spoken};
use selfsame_aries::formats::{Artefact, AttachmentFormat};
use selfsame_aries::issue_credential::IssueMessage;
use selfsame_core::machine::At;
use selfsame_credential::single_use::HANDLE;
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::{
    CameBeside, IssuedBeside, KeptBeside, MadeAttachment, OfferBeside, RequestBeside,
};
use selfsame_store::TenantId;

use super::{
    IssueEntry, IssueGiven, IssueMade, IssueWhat, MadeCredential, MadeOffer, MadeRequest,
    NamedFilter, NewCredentialOffer, NewCredentialProposal,
};
use crate::exchanges::Unmade;
use crate::parts::AgentParts;

/// An issuing in which something is to be made.
struct CredentialMaker<'a> {
    agent: &'a AgentParts,
    tenant: &'a TenantId,
    /// The id of the exchange's record.
    id: &'a str,
    entry: &'a IssueEntry,
}

/// What the input asks to be made, or what follows from it by itself.
///
/// # Errors
/// What an act of the controller can't be given. What follows by itself and fails is noted in the record.
pub(super) async fn made(
    agent: &AgentParts,
    at: At<'_>,
    entry: &IssueEntry,
    given: &IssueGiven,
) -> Result<Option<IssueMade>> {
    let maker = CredentialMaker {
        agent,
        tenant: at.tenant,
        id: at.id,
        entry,
    };
    if let IssueWhat::Received(message) = &given.what {
        let kind = message.content.kind;
        let is_answer = matches!(kind, IssueMessage::Request | IssueMessage::Credential);
        return match maker.follow(given).await {
            Err(error) => Unmade::of(error, is_answer).map(|why| Some(IssueMade::Nothing(why))),
            made => made,
        };
    }
    maker.act(&given.what).await
}

impl CredentialMaker<'_> {
    async fn act(&self, what: &IssueWhat) -> Result<Option<IssueMade>> {
        match what {
            IssueWhat::Propose(new) if self.entry.may(IssueMessage::Proposal) => {
                proposal(new).map(IssueMade::Proposal).map(Some)
            }
            IssueWhat::Offer(Some(new)) if self.entry.may(IssueMessage::Offer) => {
                self.offer(new).await.map(Some)
            }
            IssueWhat::Offer(None) if self.entry.may(IssueMessage::Offer) => {
                let proposed = self.entry.message(IssueMessage::Proposal);
                self.offer(&of_proposal(proposed)?).await.map(Some)
            }
            IssueWhat::Request if self.entry.may(IssueMessage::Request) => {
                let offer = self.entry.message(IssueMessage::Offer);
                self.request(offer).await.map(Some)
            }
            IssueWhat::Issue { comment } if self.entry.may(IssueMessage::Credential) => {
                let request = self.entry.message(IssueMessage::Request);
                self.issue(request, comment.clone()).await.map(Some)
            }
            IssueWhat::Store { credential_id } if self.entry.may(IssueMessage::Ack) => {
                let credential = self.entry.message(IssueMessage::Credential);
                self.store(credential, credential_id.as_deref())
                    .await
                    .map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What this agent does by itself after a message.
    async fn follow(&self, given: &IssueGiven) -> Result<Option<IssueMade>> {
        let IssueWhat::Received(message) = &given.what else {
            return Ok(None);
        };
        let (kind, Spoken::Payload(payload)) = (message.content.kind, &message.content.content)
        else {
            return Ok(None);
        };
        if !self.entry.is_news(kind) || given.ground.way.is_none() {
            return Ok(None);
        }
        let settings = self.agent.terms(self.tenant).settings;
        let exchange = self.entry.exchange.as_ref();
        let extra = exchange.map(|one| one.extra.clone()).unwrap_or_default();
        match kind {
            IssueMessage::Proposal
                if extra.auto_offer || settings.auto_respond_credential_proposal =>
            {
                self.offer(&of_proposal(Some(payload))?).await.map(Some)
            }
            IssueMessage::Offer if settings.auto_respond_credential_offer => {
                self.request(Some(payload)).await.map(Some)
            }
            IssueMessage::Request
                if extra.auto_issue || settings.auto_respond_credential_request =>
            {
                self.issue(Some(payload), None).await.map(Some)
            }
            IssueMessage::Credential if settings.auto_store_credential => {
                self.store(Some(payload), None).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    async fn offer(&self, new: &NewCredentialOffer) -> Result<IssueMade> {
        let (mut attachments, mut preview) = (Vec::new(), new.preview.clone());
        let mut metadata = None;
        for filter in &new.filters {
            let (format, of) = (named(&filter.format)?, filter.definitions());
            if let Some(beside) = self.agent.beside(format.name) {
                let (filter, preview) = (&filter.filter, &mut preview);
                let offered = OfferBeside { filter, preview };
                let MadeAttachment { bytes, secret } = beside.offer(self.tenant, offered).await?;
                attachments.push(attached(format, Artefact::Offer, bytes));
                metadata = Some(secret);
                continue;
            }
            let offer = self.agent.anoncreds.offer(self.tenant, &of).await?;
            if is_single_use(&offer.attributes) {
                self.handle(&mut preview);
            }
            attachments.push(attached(format, Artefact::Offer, offer.json));
        }
        if attachments.is_empty() {
            return Err(Error::bad_request("aries-filter-absent"));
        }
        Ok(IssueMade::Offer(MadeOffer {
            payload: Payload {
                comment: new.comment.clone(),
                replacement_id: new.replacement_id.clone(),
                preview: Some(preview),
                attachments,
                ..Payload::default()
            },
            metadata,
        }))
    }

    /// Adds the handle of a credential that can be used once. The controller need not know of it.
    fn handle(&self, preview: &mut Preview) {
        let mut attributes = preview.attributes.iter();
        if attributes.any(|one| one.name == HANDLE) {
            return;
        }
        preview.attributes.push(PreviewAttribute {
            name: HANDLE.to_owned(),
            mime_type: None,
            value: new_handle(&self.agent.shared.clock.ctx()),
        });
    }

    async fn request(&self, offer: Option<&Payload>) -> Result<IssueMade> {
        let offer = first(offer)?;
        let (bytes, metadata) = match self.agent.beside(offer.format.name) {
            Some(beside) => {
                let made = beside.request(self.tenant, offer.bytes).await?;
                (made.bytes, made.secret)
            }
            None => {
                let anoncreds = &self.agent.anoncreds;
                let requested = anoncreds.request(self.tenant, offer.bytes, None).await?;
                (requested.request, requested.metadata)
            }
        };
        let attachment = attached(offer.format, Artefact::Request, bytes);
        Ok(IssueMade::Request(MadeRequest {
            payload: Payload {
                attachments: vec![attachment],
                ..Payload::default()
            },
            metadata,
            format: offer.format.name.to_owned(),
        }))
    }

    async fn issue(&self, request: Option<&Payload>, comment: Option<String>) -> Result<IssueMade> {
        let request = first(request)?;
        let offered = self.entry.message(IssueMessage::Offer);
        let absent = || Error::bad_request("aries-offer-absent");
        let offered = offered.ok_or_else(absent)?;
        let offer = of_format(Some(offered), request.format.name)?;
        if let Some(beside) = self.agent.beside(request.format.name) {
            let asked = RequestBeside {
                request: request.bytes,
                offer: offer.bytes,
                preview: offered.preview.as_ref(),
                secret: self.entry.details.metadata.as_deref().ok_or_else(absent)?,
                exchange: self.id,
            };
            let issued = beside.issue(self.tenant, asked).await?;
            return Ok(credential(request.format, issued, comment));
        }
        let issuance = NewIssuance {
            offer: offer.bytes,
            request: request.bytes,
            values: values(offered.preview.as_ref()),
            exchange: Some(self.id),
        };
        let issued = self.agent.anoncreds.issue(self.tenant, &issuance).await?;
        let issued = IssuedBeside {
            format: (request.format.id)(Artefact::Credential).to_owned(),
            bytes: issued.json,
            cred_def_id: issued.cred_def_id,
            rev_reg_id: issued.rev_reg_id,
            cred_rev_id: issued.cred_rev_id,
            id: None,
            writes: issued.writes,
        };
        Ok(credential(request.format, issued, comment))
    }

    async fn store(&self, credential: Option<&Payload>, id: Option<&str>) -> Result<IssueMade> {
        let credential = first(credential)?;
        let metadata = self.entry.details.metadata.as_deref();
        let metadata = metadata.ok_or_else(|| Error::bad_request("aries-request-absent"))?;
        if let Some(beside) = self.agent.beside(credential.format.name) {
            let came = CameBeside {
                format: credential.id,
                bytes: credential.bytes,
                secret: metadata,
                id,
            };
            let kept = beside.keep(self.tenant, came).await?;
            return Ok(IssueMade::Stored(kept));
        }
        let anoncreds = &self.agent.anoncreds;
        let accepted = anoncreds.accept(self.tenant, credential.bytes, metadata, id);
        let accepted = accepted.await?;
        let index = accepted.info.cred_rev_id.as_deref();
        Ok(IssueMade::Stored(KeptBeside {
            id: accepted.id,
            rev_reg_id: accepted.info.rev_reg_id,
            cred_rev_id: index.and_then(|index| index.parse().ok()),
            writes: accepted.writes,
        }))
    }
}

/// The message with a credential that was issued.
fn credential(
    format: &'static AttachmentFormat,
    issued: IssuedBeside,
    comment: Option<String>,
) -> IssueMade {
    let attachment = Formatted {
        format: issued.format,
        ..attached(format, Artefact::Credential, issued.bytes)
    };
    IssueMade::Credential(MadeCredential {
        payload: Payload {
            comment,
            attachments: vec![attachment],
            ..Payload::default()
        },
        cred_def_id: issued.cred_def_id,
        rev_reg_id: issued.rev_reg_id,
        cred_rev_id: issued.cred_rev_id,
        id: issued.id,
        format: format.name.to_owned(),
        writes: issued.writes,
    })
}

fn proposal(new: &NewCredentialProposal) -> Result<Payload> {
    let mut attachments = Vec::new();
    for NamedFilter { format, filter } in &new.filters {
        let format = named(format)?;
        let bytes = (format.write_filter)(filter);
        attachments.push(attached(format, Artefact::Filter, bytes));
    }
    Ok(Payload {
        comment: new.comment.clone(),
        preview: new.preview.clone(),
        attachments,
        ..Payload::default()
    })
}

/// The offer of what was proposed.
fn of_proposal(proposed: Option<&Payload>) -> Result<NewCredentialOffer> {
    let absent = || Error::bad_request("aries-proposal-absent");
    let proposed = proposed.ok_or_else(absent)?;
    let mut filters = Vec::new();
    for one in known(proposed) {
        let filter = (one.format.read_filter)(one.bytes);
        filters.push(NamedFilter {
            format: one.format.name.to_owned(),
            filter: filter.map_err(|error| selfsame_mediation::error::unreadable(&error))?,
        });
    }
    Ok(NewCredentialOffer {
        preview: proposed.preview.clone().ok_or_else(absent)?,
        filters,
        ..NewCredentialOffer::default()
    })
}

fn values(preview: Option<&Preview>) -> Vec<(String, String)> {
    let attributes = preview.map_or(&[][..], |preview| &preview.attributes[..]);
    let value = |one: &PreviewAttribute| (one.name.clone(), one.value.clone());
    attributes.iter().map(value).collect()
}
