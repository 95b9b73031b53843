//! What a step of presenting needs and is not pure: requests with nonces, presentations and verdicts.

use selfsame_agent_view::attachments::{attached, first, known, named, of_format};
use selfsame_agent_view::proposal::{previewed, request_of, with_nonce};
use selfsame_anoncreds_wallet::ProofVerdict;
use selfsame_aries::exchange::{Payload, Spoken};
use selfsame_aries::formats::{Artefact, FIRST};
use selfsame_aries::present_proof::{PREVIEW, ProofMessage};
use selfsame_driver::{Error, Result};
use selfsame_mediation::beside::ProofBeside;
use selfsame_mediation::error::unreadable;
use selfsame_mediation::wishes::{NamedRequest, NewProofRequest};
use selfsame_store::TenantId;

use super::{NewPresentation, ProofEntry, ProofGiven, ProofMade, ProofWhat};
use crate::exchanges::Unmade;
use crate::parts::AgentParts;

/// A presenting in which something is to be made.
struct PresentationMaker<'a> {
    agent: &'a AgentParts,
    tenant: &'a TenantId,
    entry: &'a ProofEntry,
}

/// What the input asks to be made, or what follows from it by itself.
///
/// # Errors
/// What an act of the controller can't be given. What follows by itself and fails is noted in the record.
pub(super) async fn made(
    agent: &AgentParts,
    tenant: &TenantId,
    entry: &ProofEntry,
    given: &ProofGiven,
) -> Result<Option<ProofMade>> {
    let maker = PresentationMaker {
        agent,
        tenant,
        entry,
    };
    if let ProofWhat::Received(_) = &given.what {
        return match maker.follow(given).await {
            Err(error) => Unmade::of(error, false).map(|why| Some(ProofMade::Nothing(why))),
            made => made,
        };
    }
    maker.act(&given.what).await
}

impl PresentationMaker<'_> {
    async fn act(&self, what: &ProofWhat) -> Result<Option<ProofMade>> {
        match what {
            ProofWhat::Propose(new) if self.entry.may(ProofMessage::Proposal) => {
                let asked = self.asked(new, Artefact::ProposedProof).await?;
                Ok(Some(ProofMade::Proposal(asked)))
            }
            ProofWhat::Request(Some(new)) if self.entry.may(ProofMessage::Request) => {
                let asked = self.asked(new, Artefact::ProofRequest).await?;
                Ok(Some(ProofMade::Request(asked)))
            }
            ProofWhat::Request(None) if self.entry.may(ProofMessage::Request) => {
                let new = of_proposal(self.entry.message(ProofMessage::Proposal))?;
                let asked = self.asked(&new, Artefact::ProofRequest).await?;
                Ok(Some(ProofMade::Request(asked)))
            }
            ProofWhat::Present(new) if self.entry.may(ProofMessage::Presentation) => {
                let request = self.entry.message(ProofMessage::Request);
                self.present(request, new).await.map(Some)
            }
            ProofWhat::Verify if self.entry.may(ProofMessage::Ack) => {
                let presentation = self.entry.message(ProofMessage::Presentation);
                self.verify(presentation).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// What this agent does by itself after a message.
    async fn follow(&self, given: &ProofGiven) -> Result<Option<ProofMade>> {
        let ProofWhat::Received(message) = &given.what else {
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
            ProofMessage::Proposal if settings.auto_respond_presentation_proposal => {
                let new = of_proposal(Some(payload))?;
                let asked = self.asked(&new, Artefact::ProofRequest).await?;
                Ok(Some(ProofMade::Request(asked)))
            }
            ProofMessage::Request
                if extra.auto_present || settings.auto_respond_presentation_request =>
            {
                let new = NewPresentation::default();
                self.present(Some(payload), &new).await.map(Some)
            }
            ProofMessage::Request => self.present_public(payload).await,
            ProofMessage::Presentation
                if extra.auto_verify || settings.auto_verify_presentation =>
            {
                self.verify(Some(payload)).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Answers a request with credentials that anybody is shown, if they are all that it asks for.
    async fn present_public(&self, request: &Payload) -> Result<Option<ProofMade>> {
        let asked = match first(Some(request)) {
            Ok(asked) if self.agent.beside(asked.format.name).is_none() => asked,
            _ => return Ok(None),
        };
        let choice = self.agent.anoncreds.public_choice(self.tenant, asked.bytes);
        let Some(chosen) = choice.await? else {
            return Ok(None);
        };
        let new = NewPresentation {
            chosen: Some(chosen),
            ..NewPresentation::default()
        };
        self.present(Some(request), &new).await.map(Some)
    }

    async fn present(&self, request: Option<&Payload>, new: &NewPresentation) -> Result<ProofMade> {
        let request = match &new.format {
            Some(name) => of_format(request, name)?,
            None => first(request)?,
        };
        let anoncreds = &self.agent.anoncreds;
        let proof = match (self.agent.beside(request.format.name), &new.chosen) {
            (Some(beside), _) => beside.present(self.tenant, request.bytes).await?,
            // What a controller chooses is shown as it is: ACA-Py does so too.
            (None, Some(chosen)) => {
                let shown = anoncreds.present_part(self.tenant, request.bytes, chosen);
                shown.await?
            }
            (None, None) => {
                let chosen = anoncreds.first_choice(self.tenant, request.bytes).await?;
                let shown = anoncreds.present(self.tenant, request.bytes, &chosen);
                shown.await?
            }
        };
        let attachment = attached(request.format, Artefact::Proof, proof);
        Ok(ProofMade::Presentation(Payload {
            comment: new.comment.clone(),
            attachments: vec![attachment],
            ..Payload::default()
        }))
    }

    async fn verify(&self, presentation: Option<&Payload>) -> Result<ProofMade> {
        let presentation = first(presentation)?;
        let format = presentation.format.name;
        let request = of_format(self.entry.message(ProofMessage::Request), format)?;
        let (request, presentation) = (request.bytes, presentation.bytes);
        let Some(beside) = self.agent.beside(format) else {
            let verdict = self.agent.anoncreds.verify(request, presentation);
            return Ok(ProofMade::Verdict(verdict.await?));
        };
        let proof = ProofBeside {
            request,
            presentation,
        };
        let verdict = beside.verify(self.tenant, proof).await?;
        Ok(ProofMade::Verdict(ProofVerdict {
            is_valid: verdict.is_valid,
            messages: verdict.messages,
        }))
    }

    /// The message that asks for a proof.
    async fn asked(&self, new: &NewProofRequest, artefact: Artefact) -> Result<Payload> {
        let (mut attachments, ctx) = (Vec::new(), self.agent.shared.clock.ctx());
        for NamedRequest { format, request } in &new.requests {
            let format = named(format)?;
            let bytes = match self.agent.beside(format.name) {
                Some(beside) => beside.ask(self.tenant, request).await?,
                None => with_nonce(request, &ctx).map_err(|why| unreadable(&why))?,
            };
            let fits = format.fits(artefact, &bytes);
            match fits.map_err(|error| unreadable(&error))? {
                true => attachments.push(attached(format, artefact, bytes)),
                false => return Err(Error::bad_request("aries-proof-request-incomplete")),
            }
        }
        if let Some(preview) = &new.preview
            && artefact == Artefact::ProposedProof
        {
            attachments.push(previewed(preview));
        }
        if attachments.is_empty() {
            return Err(Error::bad_request("aries-proof-request-absent"));
        }
        Ok(Payload {
            comment: new.comment.clone(),
            will_confirm: Some(true).filter(|_| artefact == Artefact::ProofRequest),
            attachments,
            ..Payload::default()
        })
    }
}

fn of_proposal(proposed: Option<&Payload>) -> Result<NewProofRequest> {
    let proposed = proposed.ok_or_else(|| Error::bad_request("aries-proposal-absent"))?;
    let mut requests = Vec::new();
    if let Some(preview) = proposed.in_format(PREVIEW) {
        requests.push(NamedRequest {
            format: FIRST.name.to_owned(),
            request: request_of(preview).map_err(|error| unreadable(&error))?,
        });
    }
    for one in known(proposed) {
        let request = serde_json::from_slice(one.bytes);
        requests.push(NamedRequest {
            format: one.format.name.to_owned(),
            request: request.map_err(|error| unreadable(&error))?,
        });
    }
    Ok(NewProofRequest {
        requests,
        ..NewProofRequest::default()
    })
}
