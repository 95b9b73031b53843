//! What the audit trail says of those who sign in to work for an organisation: sign-ins, refused ones too, sign-outs and
//! accepted invitations.

use std::sync::{Mutex, PoisonError};

use selfsame_audit::{Act, AuditResult, AuditedActor};
use selfsame_core::organisation::OrganisationName;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_operators::{Actor, Authority};

use super::App;

/// Refused sign-ins of an hour that the trail has; the log has each. Anybody can be refused as often as they like.
const REFUSED_AN_HOUR: u32 = 1_000;
const HOUR: u64 = 3_600;
/// A person who works for more organisations than this is in the trail of the instance alone.
const TRAILS: usize = 20;

/// A sign-in or a sign-out.
#[derive(Clone, Debug)]
pub struct SeatAct {
    /// The method and the address that it was sent to.
    pub act: String,
    /// From which network address.
    pub from: String,
}

/// How many refused sign-ins the trail has of the present hour.
#[derive(Default)]
pub(super) struct RefusedSignIns(Mutex<RefusedHour>);

#[derive(Default)]
struct RefusedHour {
    hour: u64,
    count: u32,
}

impl RefusedSignIns {
    /// Counts one more; returns whether the trail has room for it.
    fn admits(&self, now: UnixTime) -> bool {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hour = now.0 / HOUR;
        if refused.hour != hour {
            *refused = RefusedHour { hour, count: 0 };
        }
        refused.count = refused.count.saturating_add(1);
        refused.count <= REFUSED_AN_HOUR
    }
}

/// Who sends a call that manages clients by eSignet's interface.
pub struct ManagerOfClients {
    /// The operator or the API key; `None` for somebody else.
    pub actor: Option<AuditedActor>,
    /// Whether they may.
    pub may: bool,
}

/// An actor as the trail names them.
#[must_use]
pub fn audited(actor: &Actor) -> AuditedActor {
    let (kind, id) = match actor {
        Actor::Token => ("token", None),
        Actor::Person { id, .. } => ("person", Some(id.clone())),
        Actor::Key { id, .. } => ("key", Some(id.clone())),
    };
    AuditedActor {
        kind: kind.to_owned(),
        id,
        name: actor.name().to_owned(),
    }
}

impl App {
    /// Writes that somebody signed in or out, into the trail of each organisation that they work for.
    ///
    /// # Errors
    /// The store's.
    pub async fn seat_taken(&self, who: &Authority, seat: SeatAct) -> Result<()> {
        let done = match seat.act.ends_with("/sign-out") {
            true => "signed out",
            false => "signed in",
        };
        if done == "signed in" {
            metrics::counter!("selfsame_operator_sign_ins_total", "result" => "made").increment(1);
        }
        tracing::info!(actor = audited(&who.actor).kind, "the operator: {done}");
        let acts = acts(Some(who), &seat);
        self.trail.write_all(acts, &AuditResult::Done).await
    }

    /// Writes that a person accepted an invitation of an organisation.
    ///
    /// # Errors
    /// The store's.
    pub async fn invitation_accepted(
        &self,
        organisation: OrganisationName,
        who: &Authority,
        seat: SeatAct,
    ) -> Result<()> {
        tracing::info!(%organisation, "the operator: accepted an invitation");
        let act = act(organisation, audited(&who.actor), &seat);
        self.trail.write_all(vec![act], &AuditResult::Done).await
    }

    /// Writes that a sign-in was refused. The address that was typed is named only if it is that of a person who works
    /// here: it may be a password in the wrong field.
    ///
    /// # Errors
    /// The store's.
    pub async fn seat_refused(
        &self,
        email: Option<&str>,
        seat: SeatAct,
        reason: &str,
    ) -> Result<()> {
        metrics::counter!("selfsame_operator_sign_ins_total", "result" => "refused").increment(1);
        if !self.refused.admits(self.clock().now()) {
            return Ok(());
        }
        let who = match email {
            Some(email) => self.operators.of_email(email).await?,
            None => None,
        };
        let result = AuditResult::Refused(reason.to_owned());
        self.trail
            .write_all(acts(who.as_ref(), &seat), &result)
            .await
    }
}

/// The entries of an act: one for each organisation that the person works for, otherwise one of the instance.
fn acts(who: Option<&Authority>, seat: &SeatAct) -> Vec<Act> {
    let actor = who.map_or_else(AuditedActor::unknown, |who| audited(&who.actor));
    let organisations = who.into_iter().flat_map(Authority::organisations);
    let mut organisations: Vec<_> = organisations.take(TRAILS + 1).cloned().collect();
    if organisations.is_empty() || organisations.len() > TRAILS {
        organisations = vec![OrganisationName::main()];
    }
    let of = |organisation| act(organisation, actor.clone(), seat);
    organisations.into_iter().map(of).collect()
}

fn act(organisation: OrganisationName, actor: AuditedActor, seat: &SeatAct) -> Act {
    Act {
        organisation,
        actor,
        act: seat.act.clone(),
        object: None,
        detail: None,
        from: Some(seat.from.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trail_has_no_more_refused_sign_ins_of_an_hour_than_it_can_bear() {
        let refused = RefusedSignIns::default();
        let at = UnixTime(HOUR * 100);
        let admitted = (0..2_000).filter(|_| refused.admits(at)).count();
        assert_eq!(admitted, 1_000);
        assert!(refused.admits(at.plus(HOUR)));
    }
}
