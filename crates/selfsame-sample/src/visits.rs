//! The visits of browsers: on their way to the provider, or signed in. They are in memory: the sample is one process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selfsame_crypto::encoding;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_identity::upstream::BegunAtProvider;
use serde_json::{Map, Value};

/// Seconds for which a visit is kept.
const SECONDS: u64 = 3_600;
/// The most visits at one time. With the next one the oldest ends.
const VISITS_MAX: usize = 1_000;

/// What a visit has come to.
#[derive(Clone)]
pub enum VisitState {
    /// The browser is at the provider.
    Begun(BegunAtProvider),
    /// The person signed in.
    Learned(LearnedVisit),
}

/// What was learned of a person.
#[derive(Clone)]
pub struct LearnedVisit {
    /// The claims of the ID token.
    pub token: Map<String, Value>,
    /// The claims of the ID token and of userinfo.
    pub claims: Map<String, Value>,
    /// The ID token, with which the person signs out.
    pub id_token: String,
}

struct Visit {
    state: VisitState,
    since: UnixTime,
}

/// All visits, by the hash of the token in the browser's cookie.
#[derive(Default)]
pub struct Visits(Mutex<BTreeMap<String, Visit>>);

impl Visits {
    /// Keeps what the visit with this token has come to.
    pub fn put(&self, token: &str, state: VisitState, now: UnixTime) {
        let mut all = self.all();
        all.retain(|_, visit| now < visit.since.plus(SECONDS));
        if all.len() >= VISITS_MAX {
            let oldest = all.iter().min_by_key(|(_, visit)| visit.since);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.map(|id| all.remove(&id));
        }
        all.insert(id(token), Visit { state, since: now });
    }

    /// What the visit has come to.
    pub fn get(&self, token: &str, now: UnixTime) -> Option<VisitState> {
        let all = self.all();
        let visit = all.get(&id(token))?;
        (now < visit.since.plus(SECONDS)).then(|| visit.state.clone())
    }

    /// What the visit has come to, which ends it.
    pub fn take(&self, token: &str, now: UnixTime) -> Option<VisitState> {
        let visit = self.all().remove(&id(token))?;
        (now < visit.since.plus(SECONDS)).then_some(visit.state)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Visit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn id(token: &str) -> String {
    encoding::base64url_encode(&sha256(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixTime = UnixTime(1_800_000_000);

    fn learned() -> VisitState {
        VisitState::Learned(LearnedVisit {
            token: Map::new(),
            claims: Map::new(),
            id_token: String::new(),
        })
    }

    #[test]
    fn a_visit_is_over_after_an_hour_and_is_taken_once() {
        let visits = Visits::default();
        visits.put("a", learned(), NOW);
        assert!(visits.get("a", NOW).is_some());
        assert!(visits.get("b", NOW).is_none());
        assert!(visits.get("a", NOW.plus(SECONDS)).is_none());
        assert!(visits.take("a", NOW).is_some());
        assert!(visits.take("a", NOW).is_none());
    }

    #[test]
    fn the_oldest_visit_makes_room_for_one_too_many() {
        let visits = Visits::default();
        for number in 0..VISITS_MAX {
            let at = NOW.plus(u64::try_from(number).unwrap());
            visits.put(&number.to_string(), learned(), at);
        }
        visits.put("one more", learned(), NOW.plus(2_000));
        let now = NOW.plus(2_000);
        assert!(visits.get("0", now).is_none());
        assert!(visits.get("1", now).is_some() && visits.get("one more", now).is_some());
        assert_eq!(visits.all().len(), VISITS_MAX);
    }
}
