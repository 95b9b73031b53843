//! A toy protocol of three messages: a guest says hello, the host answers with a riddle, the guest solves it, and the
//! host lets the guest in. This file is all that a protocol needs beside its pure part.

use selfsame_credential::evidence::Step;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::record::RecordCache;
use selfsame_driver::record::encode;
use selfsame_driver::{Error, Reason, Result};
use selfsame_store::{NewOutbox, Put};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::machine::{Call, CallAnswer, Calling, HttpBody, HttpCall, Machine, Next, Round};
use selfsame_driver::record::events::EventKind;

/// The guest's machine.
#[derive(Default)]
pub struct Guest {
    records: RecordCache<Visit>,
}

/// The record of a visit.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Visit {
    pub door: Url,
    pub state: State,
    /// When the guest no longer waits.
    pub until: UnixTime,
}

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum State {
    Greeting,
    Solving,
    Inside { room: String },
    Outside { reason: Reason },
}

impl Visit {
    pub fn put(&self, id: &str) -> Put {
        Put::new(Guest::KIND, id, encode(self).unwrap())
    }

    pub fn hello(&self, id: &str, now: UnixTime) -> NewOutbox {
        self.says("hello", id, now).unwrap()
    }

    fn says(&self, word: &str, id: &str, now: UnixTime) -> Result<NewOutbox> {
        let form = HttpBody::Form(vec![("word".to_owned(), word.to_owned())]);
        let call = HttpCall::post(self.door.clone(), form);
        // Guests enter by one door one after another.
        Call::Http(Box::new(call)).entry(Guest::KIND, id, self.door.as_str(), now)
    }
}

impl Machine for Guest {
    const KIND: &'static str = "toy_visit";
    type Record = Visit;
    type Input = CallAnswer;
    type Reply = State;

    fn records(&self) -> &RecordCache<Visit> {
        &self.records
    }

    fn step(
        &self,
        visit: &mut Visit,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<State>>> {
        let said = match answer {
            CallAnswer::Http { response, .. } if response.status == 200 => response.body.as_str(),
            CallAnswer::Http { .. } => return Err(Error::bad_request("host-rude")),
            _ => "nothing",
        };
        let (state, word) = match (&visit.state, said) {
            (State::Greeting, "what is two and two?") => (State::Solving, Some("four")),
            (State::Solving, room) if room.starts_with("room ") => {
                let room = room.to_owned();
                (State::Inside { room }, None)
            }
            _ => {
                let reason = Reason::text(format!("the host said {said}"));
                (State::Outside { reason }, None)
            }
        };
        visit.state = state.clone();
        let next = Next::written(round, state);
        Ok(Step::Done(match word {
            Some(word) => next.call(visit.says(word, round.at.id, round.ctx.now())?),
            None => next.tell(EventKind::Presented, round.at.id),
        }))
    }
}

impl Calling for Guest {
    fn is_late(&self, visit: &Visit, now: UnixTime) -> bool {
        visit.until <= now
    }

    fn given_up(
        &self,
        visit: Option<&mut Visit>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<State>> {
        let reason = error.map_or(Reason::new("host-late"), |error| error.reason.clone());
        let state = State::Outside { reason };
        if let Some(visit) = visit {
            visit.state = state.clone();
        }
        Ok(Next::written(round, state))
    }
}
