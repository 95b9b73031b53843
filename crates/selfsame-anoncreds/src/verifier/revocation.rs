//! As of when each credential is proven not revoked, and whether that meets the request.

use selfsame_verdict::RuleRefusal;

use super::known::{Known, KnownObjects, Policy};
use crate::cl::revocation::{Accumulator, RevocationKeyPublic};
use crate::format::{Interval, Presentation, RevocationRegistryId, RevocationStatusList};

/// The state of the registry that a non-revocation proof is for.
#[derive(Debug)]
pub(super) struct State<'a> {
    pub registry_id: &'a RevocationRegistryId,
    pub registry: &'a RevocationKeyPublic,
    pub accumulator: &'a Accumulator,
    pub as_of: u64,
    pub interval: Option<Interval>,
}

type States<'a> = Vec<Option<State<'a>>>;

/// For each credential, the registry state of its non-revocation proof; `None` if none is given and none is needed.
pub(super) fn states<'a>(
    known: &[Known<'a>],
    presentation: &Presentation,
    objects: &KnownObjects<'a>,
    policy: &Policy,
) -> Result<(States<'a>, String), RuleRefusal> {
    let mut states = Vec::new();
    for (known, proof) in known.iter().zip(&presentation.proof.proofs) {
        let interval = interval(known, policy);
        states.push(match (&proof.non_revoc_proof, interval) {
            (None, None) => None,
            (None, Some(_)) => {
                return RuleRefusal::fails(format!(
                    "credential {} is not proven not to be revoked",
                    known.plan.index
                ));
            }
            (Some(_), interval) => Some(state(known, interval, objects)?),
        });
    }
    let proven = states.iter().flatten().count();
    Ok((states, format!("{proven} of {} credentials", known.len())))
}

/// The requested interval, if the credential can be revoked.
fn interval(known: &Known<'_>, policy: &Policy) -> Option<Interval> {
    known.definition.definition().value.revocation.as_ref()?;
    let interval = known.plan.interval?;
    Some(match &known.plan.identifiers.rev_reg_id {
        Some(registry) => interval.with_override(registry, &policy.overrides),
        None => interval,
    })
}

fn state<'a>(
    known: &Known<'a>,
    interval: Option<Interval>,
    objects: &KnownObjects<'a>,
) -> Result<State<'a>, RuleRefusal> {
    let ids = known.plan.identifiers;
    let (Some(registry_id), Some(as_of)) = (&ids.rev_reg_id, ids.timestamp) else {
        return RuleRefusal::fails(format!(
            "credential {} names no registry or no timestamp",
            known.plan.index
        ));
    };
    let Some(registry) = known.registry else {
        return RuleRefusal::missing(format!("revocation registry {registry_id}"));
    };
    if interval.is_some_and(|interval| !interval.contains(as_of)) {
        return RuleRefusal::fails(format!(
            "credential {} is proven as of {as_of}, which is not in the interval",
            known.plan.index
        ));
    }
    let list = objects
        .lists
        .iter()
        .find(|list| is_of(list, registry_id, as_of));
    let Some(list) = list else {
        return RuleRefusal::missing(format!("status list of {registry_id} as of {as_of}"));
    };
    if list.issuer_id != registry.issuer_id {
        return RuleRefusal::fails(format!(
            "the status list of {registry_id} is of another issuer"
        ));
    }
    let accumulator = list
        .accumulator()
        .map_err(|error| RuleRefusal::Fails(error.to_string()))?;
    Ok(State {
        registry_id,
        registry: &registry.value.public_keys.accum_key,
        accumulator,
        as_of,
        interval,
    })
}

fn is_of(list: &RevocationStatusList, registry: &RevocationRegistryId, as_of: u64) -> bool {
    list.rev_reg_def_id.as_ref() == Some(registry) && list.timestamp == Some(as_of)
}
