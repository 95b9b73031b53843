//! Presenting a proof (RFC 0454, RFC 0037), as records of the agent.

mod making;

use async_trait::async_trait;
use selfsame_agent_view::exchange::{self as shown, Depth};
use selfsame_anoncreds_wallet::{ChosenCredentials, ProofVerdict};
use selfsame_aries::advance::{Outgoing, Problem};
use selfsame_aries::exchange::{Course as _, Payload};
use selfsame_aries::notification::ProblemReport;
use selfsame_aries::present_proof::{PresentProof, ProofInput, ProofSpeech, ProofState, step};
use selfsame_aries::wire::Incoming;
use selfsame_core::machine::At;
use selfsame_credential::evidence::Step;
use selfsame_crypto::ctx::Ctx;
use selfsame_driver::Result;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ExchangeEntry, ExchangeProtocol, ExchangeRecord, ExchangeRun, ExchangeStanding, Ground, Unmade,
    Way, role_name,
};
use crate::machine::{AgentProtocol, AgentTurn, Parcel, Startable, Taken};
use crate::notice::{Told, Untold};
use crate::parts::AgentParts;

/// The records of presenting.
pub type ProofEntry = ExchangeEntry<PresentProof, ProofDetails>;

/// The protocol present-proof.
pub struct ProvingProtocol;

/// What the agent knows of a presenting beside the protocol.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ProofDetails {}

/// What a presenting is given.
pub struct ProofGiven {
    pub what: ProofWhat,
    pub ground: Ground,
    /// What was made for the step.
    pub(super) made: Option<ProofMade>,
}

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

/// A request for a proof.
#[derive(Clone, Debug, Default)]
pub struct NewProofRequest {
    /// What is to be proven, by the name of each format.
    pub requests: Vec<NamedRequest>,
    /// What is to be proven, as a proposal of version 1 says it (RFC 0037, "Presentation Preview").
    pub preview: Option<Map<String, Value>>,
    /// A text for people.
    pub comment: Option<String>,
}

/// What is to be proven, in a format.
#[derive(Clone, Debug)]
pub struct NamedRequest {
    /// The format's name, such as `indy`.
    pub format: String,
    /// The request, such as a presentation request of AnonCreds. A nonce is added if it has none.
    pub request: Value,
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
pub(super) enum ProofMade {
    Proposal(Payload),
    Request(Payload),
    Presentation(Payload),
    Verdict(ProofVerdict),
    Nothing(Unmade),
}

impl ProofGiven {
    /// An input on this ground.
    pub fn new(what: ProofWhat, ground: Ground) -> Self {
        Self {
            what,
            ground,
            made: None,
        }
    }

    /// Sets what the controller or the agent's settings say of the record.
    fn set(&self, entry: &mut ProofEntry) {
        let Some(exchange) = &mut entry.exchange else {
            return;
        };
        self.ground.bind(&mut exchange.connection_id);
        let (wishes, extra) = (self.ground.wishes, &mut exchange.extra);
        extra.auto_present = wishes.auto_present.unwrap_or(extra.auto_present);
        extra.auto_verify = wishes.auto_verify.unwrap_or(extra.auto_verify);
        extra.auto_remove = wishes.auto_remove.unwrap_or(extra.auto_remove);
    }
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
        let ctx = turn.round.ctx;
        let mut run = ExchangeRun::new(entry, &given.ground, turn);
        let input = match &given.what {
            ProofWhat::Received(message) => Some(ProofInput::Received((**message).clone())),
            ProofWhat::Abandon(report) => Some(ProofInput::Abandon(report.clone())),
            _ if given.made.is_none() => return Err(Problem::wrong_state()),
            _ => None,
        };
        if let Some(input) = input
            && !run.take(|place| step(place, &input, ctx), told)?
        {
            return Ok(Step::Done(Taken::repeated()));
        }
        given.set(run.entry());
        if let Some(made) = &given.made {
            made.apply(&mut run, ctx)?;
        }
        given.set(run.entry());
        let entry = run.entry();
        entry.settle();
        let shown = entry.shown(Depth::Messages);
        Ok(Step::Done(run.finish(shown)))
    }

    fn tags(entry: &ProofEntry) -> Vec<Tag> {
        entry.tags()
    }

    fn report(_entry: &ProofEntry, given: &ProofGiven, report: &Outgoing) -> Option<Parcel> {
        given.ground.parcel(report)
    }

    fn untold(entry: &mut ProofEntry) -> &mut Untold {
        &mut entry.untold
    }

    fn is_ended(entry: &ProofEntry) -> bool {
        entry.is_ended
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
    type What = ProofWhat;
    type Speech = ProofSpeech;
    const NAME: &'static str = PresentProof::PROTOCOL;

    fn received(message: Incoming<ProofSpeech>) -> ProofWhat {
        ProofWhat::Received(Box::new(message))
    }

    fn given(what: ProofWhat, ground: Ground) -> ProofGiven {
        ProofGiven::new(what, ground)
    }
}

impl Startable for ProvingProtocol {
    fn record_id(entry: &ProofEntry) -> String {
        entry.id()
    }
}

impl ProofMade {
    /// Takes the step that what was made is for.
    fn apply(
        &self,
        run: &mut ExchangeRun<'_, PresentProof, ProofDetails>,
        ctx: &Ctx,
    ) -> std::result::Result<(), Problem> {
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
        run.take(|place| step(place, &input, ctx), told)?;
        if let Self::Nothing(Unmade::Refused(why)) = self {
            run.note(why);
        }
        Ok(())
    }
}

impl ProofEntry {
    /// Marks a record that is done, and that nobody asked to keep, as one to be removed.
    fn settle(&mut self) {
        let exchange = self.exchange.as_ref();
        // What came to nothing is kept for its controller to see.
        self.is_ended =
            exchange.is_some_and(|one| one.extra.auto_remove && one.state == ProofState::Done);
    }
}

impl ExchangeRecord for ProofEntry {
    fn connection_id(&self) -> Option<&str> {
        self.exchange.as_ref()?.connection_id.as_deref()
    }

    fn unsent(&self) -> Option<&Value> {
        self.unsent.as_ref()
    }

    fn alone(&self) -> Option<&Way> {
        self.alone.as_ref()
    }

    fn thread_id(&self) -> &str {
        let exchange = self.exchange.as_ref();
        exchange.map_or("", |one| &one.dialogue.thread_id)
    }

    fn is_ended(&self) -> bool {
        self.is_ended
    }

    fn standing(&self) -> Option<ExchangeStanding> {
        let exchange = self.exchange.as_ref()?;
        Some(ExchangeStanding {
            major: exchange.version().major,
            role: role_name(exchange.role),
            state: shown::presentation_state(exchange),
        })
    }

    fn shown(&self, depth: Depth) -> Value {
        let exchange = self.exchange.as_ref();
        exchange.map_or(Value::Null, |one| {
            shown::presentation(&self.id(), one, depth)
        })
    }
}

/// The notice of a record's state.
fn told(entry: &ProofEntry) -> Told {
    let version = entry.exchange.as_ref().map_or(2, |one| one.version().major);
    let topic = match version {
        1 => "present_proof",
        _ => "present_proof_v2_0",
    };
    Told::new(topic, &entry.shown(Depth::Attachments))
}
