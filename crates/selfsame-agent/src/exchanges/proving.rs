//! Presenting a proof (RFC 0454, RFC 0037), as records of the agent.

mod making;

use async_trait::async_trait;
use selfsame_agent_view::attachments::first;
use selfsame_agent_view::exchange as shown;
use selfsame_anoncreds_wallet::single_use::ShownProof;
use selfsame_anoncreds_wallet::{ChosenCredentials, ProofVerdict};
use selfsame_aries::advance::{Footing, Outgoing, Problem};
use selfsame_aries::exchange::Payload;
use selfsame_aries::notification::ProblemReport;
use selfsame_aries::present_proof::{
    PresentProof, PresentationExchange, ProofExtra, ProofInput, ProofMessage, ProofSpeech,
    ProofState, step,
};
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::{At, FlowResult};
use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_store::Tag;
use serde_json::Value;

use super::{
    ExchangeEntry, ExchangeGiven, ExchangeProtocol, ExchangeRun, KeptCourse, MadeForStep, ShownAs,
    Unmade,
};
use crate::machine::{AgentProtocol, AgentTurn, Parcel, Startable, Taken};
use crate::parts::AgentParts;
use selfsame_mediation::destination::settling::LastSent;
use selfsame_mediation::notice::Untold;
use selfsame_mediation::wishes::{NewProofRequest, Wishes};

/// The records of presenting.
pub type ProofEntry = ExchangeEntry<PresentProof>;

/// The protocol present-proof.
pub struct ProvingProtocol;

/// What a presenting is given.
pub type ProofGiven = ExchangeGiven<ProofWhat, ProofMade>;

/// What happens in a presenting.
pub enum ProofWhat {
    /// A message of the protocol came.
    Received(Box<Incoming<ProofSpeech>>),
    /// The prover proposes what to prove.
    Propose(NewProofRequest),
    /// The verifier requests a proof; without terms, of what was proposed.
    Request(Option<NewProofRequest>),
    /// The prover presents.
    Present(NewPresentation),
    /// The verifier verifies.
    Verify,
    /// Ends the exchange.
    Abandon(ProblemReport),
}

/// A presentation.
#[derive(Clone, Debug, Default)]
pub struct NewPresentation {
    /// The format's name; the first one of the request without it.
    pub format: Option<String>,
    /// The credentials; without them the first that fit.
    pub chosen: Option<ChosenCredentials>,
    /// A text for people.
    pub comment: Option<String>,
}

/// What was made for a step.
pub enum ProofMade {
    Proposal(Payload),
    Request(Payload),
    Presentation(Payload),
    Verdict(ProofVerdict),
    Nothing(Unmade),
}

#[async_trait]
impl AgentProtocol for ProvingProtocol {
    const KIND: &'static str = "aries_proving";
    type Entry = ProofEntry;
    type Input = ProofGiven;

    fn step(
        entry: &mut ProofEntry,
        given: &ProofGiven,
        turn: &AgentTurn<'_>,
    ) -> std::result::Result<Step<Taken<ProofEntry>>, Problem> {
        let input = match &given.what {
            ProofWhat::Received(message) => Some(ProofInput::Received((**message).clone())),
            ProofWhat::Abandon(report) => Some(ProofInput::Abandon(report.clone())),
            _ => None,
        };
        let first =
            input.map(|input| move |place: Footing<'_, _>| step(place, &input, turn.round.ctx));
        given.step(entry, turn, first)
    }

    fn tags(entry: &ProofEntry) -> Vec<Tag> {
        entry.tags()
    }

    fn expires(entry: &ProofEntry) -> Option<UnixTime> {
        entry.expires
    }

    fn report(_entry: &ProofEntry, given: &ProofGiven, report: &Outgoing) -> Option<Parcel> {
        given.report(report)
    }

    fn untold(entry: &mut ProofEntry) -> &mut Untold {
        &mut entry.untold
    }

    fn result(entry: &ProofEntry) -> Option<FlowResult> {
        entry.result()
    }

    fn is_ended(entry: &ProofEntry) -> bool {
        entry.is_ended
    }

    fn last_sent(entry: &mut ProofEntry) -> Option<&mut LastSent> {
        Some(&mut entry.last_sent)
    }

    async fn prepare(
        agent: &AgentParts,
        at: At<'_>,
        entry: &ProofEntry,
        given: &mut ProofGiven,
    ) -> Result<()> {
        if given.made.is_none() {
            given.made = making::made(agent, at.tenant, entry, given).await?;
        }
        Ok(())
    }
}

impl ExchangeProtocol for ProvingProtocol {
    type Course = PresentProof;
    type What = ProofWhat;
    type Made = ProofMade;

    fn received(message: Incoming<ProofSpeech>) -> ProofWhat {
        ProofWhat::Received(Box::new(message))
    }
}

impl KeptCourse for PresentProof {
    type Details = ();
    const TOPICS: [&'static str; 2] = ["present_proof", "present_proof_v2_0"];

    fn set(extra: &mut ProofExtra, wishes: Wishes) {
        extra.auto_present = wishes.auto_present.unwrap_or(extra.auto_present);
        extra.auto_verify = wishes.auto_verify.unwrap_or(extra.auto_verify);
        extra.auto_remove = wishes.auto_remove.unwrap_or(extra.auto_remove);
    }

    fn is_spent(exchange: &PresentationExchange) -> bool {
        exchange.extra.auto_remove && exchange.state == ProofState::Done
    }

    fn shown(id: &str, exchange: &PresentationExchange, of: ShownAs<'_, Self>) -> Value {
        shown::presentation(id, exchange, of.depth)
    }
}

impl Startable for ProvingProtocol {
    fn record_id(entry: &ProofEntry) -> String {
        entry.id()
    }
}

impl ProofEntry {
    /// The presentation with its request, if it was verified and is valid.
    pub fn verified_proof(&self) -> Option<ShownProof<'_>> {
        self.exchange
            .as_ref()?
            .extra
            .verified
            .filter(|valid| *valid)?;
        let shown = |kind| first(self.message(kind)).ok();
        Some(ShownProof {
            request: shown(ProofMessage::Request)?.bytes,
            presentation: shown(ProofMessage::Presentation)?.bytes,
        })
    }
}

impl MadeForStep<PresentProof> for ProofMade {
    fn apply(&self, run: &mut ExchangeRun<'_, PresentProof>) -> std::result::Result<(), Problem> {
        let input = match self {
            Self::Proposal(payload) => ProofInput::Propose(payload.clone()),
            Self::Request(payload) => ProofInput::Request(payload.clone()),
            Self::Presentation(payload) => ProofInput::Present(payload.clone()),
            Self::Verdict(verdict) => ProofInput::Judge {
                verified: verdict.is_valid,
                messages: verdict.messages.clone(),
            },
            Self::Nothing(Unmade::Refused(_)) => ProofInput::Abandon(ProblemReport::default()),
            Self::Nothing(Unmade::Failed(why)) => {
                run.note(why);
                return Ok(());
            }
        };
        let ctx = run.ctx();
        run.take(|place| step(place, &input, ctx))?;
        if let Self::Nothing(Unmade::Refused(why)) = self {
            run.note(why);
        }
        Ok(())
    }
}
