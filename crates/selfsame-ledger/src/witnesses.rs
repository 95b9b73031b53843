//! The witnesses of the embedded registry: each new checkpoint is shown to all of them at once, and their cosignatures
//! are kept with it (C2SP tlog-witness).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, Result};
use selfsame_net::{
    Authorization, Body, Call, CallLimits, Method, Net, NetError, Request, Response,
};
use selfsame_proof::note::SignedNote;
use selfsame_proof::witness::{
    ADD_CHECKPOINT, AddCheckpoint, MAX_ANSWER_BYTES, SIZE_MEDIA_TYPE, parse_size, take_cosignature,
};
use url::Url;

use crate::config::RegistryWitness;
use crate::ledger::Ledger;
use crate::policy::SKEW;
use crate::view::WitnessFigures;

/// Time limit for all witnesses of a checkpoint together.
const WITHIN: Duration = Duration::from_secs(1);
/// Maximum seconds for which a witness that was late several times is not called, so that blocks do not wait for it.
const REST_MAX: u64 = 30;
/// Maximum calls to a witness for one checkpoint if each answer names another size that it has seen.
const CALLS_MAX: usize = 3;

/// The witnesses that a registry shows its checkpoints to.
pub(super) struct Witnesses {
    net: Net,
    clock: Clock,
    ledger: Ledger,
    each: Vec<OneWitness>,
}

struct OneWitness {
    at: RegistryWitness,
    call: Url,
    seen: Mutex<Seen>,
}

/// The known state of a witness.
#[derive(Default)]
struct Seen {
    /// The number of entries of the log that it cosigned last, as far as known.
    size: Option<u64>,
    /// What it did last.
    did: Option<WitnessResult>,
    /// How often in a row it did not answer in time.
    late: u32,
    /// It is not called before this time.
    rests_until: UnixTime,
    figures: WitnessFigures,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum WitnessResult {
    Cosign,
    Refuse,
    NotAnswer,
}

/// Why there is no cosignature.
struct Unwitnessed {
    did: WitnessResult,
    late: bool,
    why: String,
}

impl Witnesses {
    /// The witnesses of the log in this ledger. None is called yet.
    ///
    /// # Errors
    /// `BadRequest` for an address that can't have a path.
    pub(super) fn new(
        net: Net,
        clock: Clock,
        ledger: Ledger,
        witnesses: Vec<RegistryWitness>,
    ) -> Result<Self> {
        let each = witnesses.into_iter().map(OneWitness::new);
        Ok(Self {
            net,
            clock,
            ledger,
            each: each.collect::<Result<_>>()?,
        })
    }

    /// Shows a signed checkpoint of a log of this size to all witnesses and adds their cosignatures. It takes a second
    /// at most; later answers are left out. Returns the time of the latest cosignature.
    pub(super) async fn show(&self, note: &mut SignedNote, size: u64) -> Option<UnixTime> {
        let now = self.clock.now();
        let awake: Vec<&OneWitness> = self.each.iter().filter(|one| one.is_awake(now)).collect();
        let shown = awake.iter().map(|one| self.show_to(one, note, size));
        let answers = join_all(shown).await;
        let now = self.clock.now();
        let mut latest = None;
        for (one, answer) in awake.into_iter().zip(answers) {
            let taken = answer.and_then(|answer| {
                let taken = take_cosignature(note, &answer, &one.at.key, now.plus(SKEW));
                taken.map_err(|error| Unwitnessed::refusal(error.to_string()))
            });
            latest = latest.max(taken.as_ref().ok().copied());
            one.did(taken.map(|_| size), now);
        }
        latest
    }

    /// The figures of each witness since the start.
    pub(super) fn figures(&self) -> Vec<WitnessFigures> {
        let figures = |one: &OneWitness| one.seen().figures.clone();
        self.each.iter().map(figures).collect()
    }

    async fn show_to(
        &self,
        one: &OneWitness,
        note: &SignedNote,
        size: u64,
    ) -> std::result::Result<String, Unwitnessed> {
        let asked = tokio::time::timeout(WITHIN, self.ask(one, note, size));
        asked.await.unwrap_or_else(|_| Err(Unwitnessed::late()))
    }

    /// Calls a witness, and again if it answers with the size that it has seen of the log.
    async fn ask(
        &self,
        one: &OneWitness,
        note: &SignedNote,
        size: u64,
    ) -> std::result::Result<String, Unwitnessed> {
        // "If a client doesn't have information on the latest cosigned checkpoint, it MAY initially make a request with
        // a old size of zero to obtain it" (C2SP tlog-witness, add-checkpoint).
        let mut old = one.seen().size.filter(|seen| *seen <= size).unwrap_or(0);
        for _ in 0..CALLS_MAX {
            let ours = |error: &dyn std::fmt::Display| Unwitnessed::refusal(error.to_string());
            let proof = self.ledger.consistency(old, size).map_err(|e| ours(&e))?;
            let call = AddCheckpoint::new(old, proof, note.clone()).map_err(|e| ours(&e))?;
            let response = self.call(&one.call, &call).await?;
            match response.status {
                200 => return text(&response),
                409 => old = size_of(&response)?,
                status => return Err(refusal(status)),
            }
            if old > size {
                return Err(Unwitnessed::refusal(format!(
                    "it has seen {old} entries of this log, but the log has {size}"
                )));
            }
            one.seen().size = Some(old);
        }
        Err(Unwitnessed::refusal(
            "it answers with a different size each time".to_owned(),
        ))
    }

    async fn call(
        &self,
        url: &Url,
        call: &AddCheckpoint,
    ) -> std::result::Result<Response, Unwitnessed> {
        let body = Body::Bytes {
            content_type: "text/plain; charset=utf-8".to_owned(),
            bytes: call.to_string().into_bytes(),
        };
        let request = Request {
            limits: Some(CallLimits {
                max_body: MAX_ANSWER_BYTES,
                total_timeout: WITHIN,
            }),
            ..Request::default()
        };
        let call = Call {
            method: Method::Post,
            url,
            body,
            authorization: Authorization::None,
            request,
        };
        self.net.call(call).await.map_err(|error| match error {
            NetError::TimedOut => Unwitnessed::late(),
            other => Unwitnessed {
                did: WitnessResult::NotAnswer,
                late: false,
                why: other.to_string(),
            },
        })
    }
}

impl OneWitness {
    fn new(at: RegistryWitness) -> Result<Self> {
        let mut call = at.url.clone();
        match call.path_segments_mut() {
            Ok(mut segments) => segments.pop_if_empty().push(ADD_CHECKPOINT),
            Err(()) => {
                return Err(Error::bad_request("witness-path").with("url", &at.url));
            }
        };
        let seen = Seen {
            figures: WitnessFigures {
                name: at.key.name().to_owned(),
                ..WitnessFigures::default()
            },
            ..Seen::default()
        };
        Ok(Self {
            at,
            call,
            seen: Mutex::new(seen),
        })
    }

    fn is_awake(&self, now: UnixTime) -> bool {
        let left = self.seen().rests_until.seconds_since(now);
        // No pause is that long: the clock was put back.
        left == 0 || left > REST_MAX
    }

    /// Records what a witness did, and logs it if it did something else before.
    fn did(&self, done: std::result::Result<u64, Unwitnessed>, now: UnixTime) {
        let name = self.at.key.name();
        let mut seen = self.seen();
        let before = seen.did;
        let (did, why) = match done {
            Ok(size) => {
                seen.size = Some(size);
                seen.figures.cosigned = seen.figures.cosigned.saturating_add(1);
                (WitnessResult::Cosign, String::new())
            }
            Err(Unwitnessed { did, why, .. }) if did == WitnessResult::Refuse => {
                seen.figures.refused = seen.figures.refused.saturating_add(1);
                (did, why)
            }
            Err(Unwitnessed { did, why, late }) => {
                seen.figures.silent = seen.figures.silent.saturating_add(1);
                if late {
                    seen.late = seen.late.saturating_add(1);
                }
                (did, why)
            }
        };
        if did != WitnessResult::NotAnswer {
            seen.late = 0;
        }
        seen.rests_until = now.plus(rest(seen.late));
        seen.did = Some(did);
        drop(seen);
        match (before == Some(did), did) {
            (true, _) => {}
            (false, WitnessResult::Cosign) => tracing::info!(witness = name, "a witness cosigns"),
            (false, WitnessResult::Refuse) => {
                tracing::warn!(witness = name, why, "a witness does not cosign");
            }
            (false, WitnessResult::NotAnswer) => {
                tracing::warn!(witness = name, why, "a witness does not answer");
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unwitnessed {
    fn refusal(why: String) -> Self {
        Self {
            did: WitnessResult::Refuse,
            late: false,
            why,
        }
    }

    fn late() -> Self {
        Self {
            did: WitnessResult::NotAnswer,
            late: true,
            why: "no answer within a second".to_owned(),
        }
    }
}

/// The seconds without calls to a witness that was late this often in a row: none after the first time, then 1, 2, 4 …
fn rest(late: u32) -> u64 {
    match late.checked_sub(2) {
        None => 0,
        Some(further) => (1 << further.min(5)).min(REST_MAX),
    }
}

fn text(response: &Response) -> std::result::Result<String, Unwitnessed> {
    let text = String::from_utf8(response.body.to_vec());
    text.map_err(|_| Unwitnessed::refusal("its answer is not text".to_owned()))
}

fn size_of(response: &Response) -> std::result::Result<u64, Unwitnessed> {
    if response.media_type().as_deref() != Some(SIZE_MEDIA_TYPE) {
        return Err(Unwitnessed::refusal(
            "its answer contains no size".to_owned(),
        ));
    }
    parse_size(&text(response)?).map_err(|error| Unwitnessed::refusal(error.to_string()))
}

/// The meaning of each status (C2SP tlog-witness, add-checkpoint).
fn refusal(status: u16) -> Unwitnessed {
    Unwitnessed::refusal(match status {
        403 => "403: it does not know the log's key".to_owned(),
        404 => "404: it does not know the log".to_owned(),
        422 => "422: this log does not continue the one that it cosigned before".to_owned(),
        status => format!("it answers {status}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_that_is_late_again_and_again_is_asked_less_and_less_often() {
        let rests: Vec<u64> = (0..9).map(rest).collect();
        assert_eq!(rests, [0, 0, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(rest(u32::MAX), REST_MAX);
    }
}
