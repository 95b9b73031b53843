//! Whether what a wallet has proven meets a declaration.

use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::day::{Day, of_date};
use crate::model::{Condition, Prerequisite, Prerequisites};
use crate::span::is_same;

/// What a wallet has shown in one answer. The caller has verified each credential.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WalletProof {
    /// When the wallet answered.
    pub at: UnixTime,
    /// The credentials.
    pub shown: Vec<ProvenCredential>,
}

/// A verified credential that was shown.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ProvenCredential {
    /// The name of the needed credential that it was shown for.
    pub need: String,
    /// Its SD-JWT VC type.
    pub vct: String,
    /// Its issuer's identifier.
    pub issuer: String,
    /// Until when it is valid; absent if it does not end.
    pub valid_until: Option<UnixTime>,
    /// The claims shown.
    pub claims: Value,
}

/// Why a declaration is not met.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unmet {
    /// The proof is older than the declaration allows, or from the future.
    Late,
    /// A needed credential was not shown.
    Missing {
        /// The name of the needed credential.
        need: String,
    },
    /// The credential shown has another type.
    Type {
        /// The name of the needed credential.
        need: String,
    },
    /// The credential shown has an issuer that the declaration does not name.
    Issuer {
        /// The name of the needed credential.
        need: String,
    },
    /// The credential shown is not valid for as long as the declaration asks.
    Ends {
        /// The name of the needed credential.
        need: String,
    },
    /// A claim is not shown, or a condition on it does not hold.
    Claim {
        /// The name of the needed credential.
        need: String,
        /// The path of the claim, with dots.
        claim: String,
    },
}

/// The credentials that meet a declaration: one set of needed ones, in the order of the declaration.
#[derive(Clone, Debug)]
pub struct MetPrerequisites<'a>(pub Vec<&'a ProvenCredential>);

impl MetPrerequisites<'_> {
    /// The credential that was shown for this need.
    #[must_use]
    pub fn shown(&self, need: &str) -> Option<&ProvenCredential> {
        self.0.iter().copied().find(|shown| shown.need == need)
    }
}

/// Judges what was shown. The declaration names types by `vct_values` alone ([`Prerequisites::resolved`]).
///
/// # Errors
/// What keeps the set from being met that is nearest to it; never empty.
pub fn judge<'a>(
    declared: &Prerequisites,
    proof: &'a WalletProof,
    now: UnixTime,
) -> Result<MetPrerequisites<'a>, Vec<Unmet>> {
    let lifetime = u64::from(declared.proof_minutes).saturating_mul(60);
    if now < proof.at || now >= proof.at.plus(lifetime) {
        return Err(vec![Unmet::Late]);
    }
    let judging = ProofJudging { proof, now };
    let judged = declared.sets().into_iter().map(|set| {
        let unmet: Vec<Unmet> = set.iter().flat_map(|need| judging.need(need)).collect();
        match unmet.is_empty() {
            true => Ok(judging.met(&set)),
            false => Err(unmet),
        }
    });
    let mut nearest: Option<Vec<Unmet>> = None;
    for one in judged {
        match one {
            Ok(met) => return Ok(met),
            Err(unmet)
                if nearest
                    .as_ref()
                    .is_none_or(|least| unmet.len() < least.len()) =>
            {
                nearest = Some(unmet);
            }
            Err(_) => {}
        }
    }
    // A declaration without a set is met by nothing.
    Err(nearest.unwrap_or_else(|| vec![Unmet::Late]))
}

struct ProofJudging<'a> {
    proof: &'a WalletProof,
    now: UnixTime,
}

impl<'a> ProofJudging<'a> {
    fn met(&self, set: &[&Prerequisite]) -> MetPrerequisites<'a> {
        MetPrerequisites(set.iter().filter_map(|need| self.only(need)).collect())
    }

    /// What was shown for a need, if it is one credential.
    fn only(&self, need: &Prerequisite) -> Option<&'a ProvenCredential> {
        self.shown_for(&need.name)
    }

    fn shown_for(&self, need: &str) -> Option<&'a ProvenCredential> {
        let mut shown = self.proof.shown.iter().filter(|shown| shown.need == need);
        // Of two credentials it would be open which one is meant.
        shown.next().filter(|_| shown.next().is_none())
    }

    fn need(&self, need: &Prerequisite) -> Vec<Unmet> {
        let name = || need.name.clone();
        let Some(shown) = self.only(need) else {
            return vec![Unmet::Missing { need: name() }];
        };
        let mut unmet = Vec::new();
        if !need.vct_values.contains(&shown.vct) {
            unmet.push(Unmet::Type { need: name() });
        }
        if !need.issuers.is_empty() && !need.issuers.contains(&shown.issuer) {
            unmet.push(Unmet::Issuer { need: name() });
        }
        let left = u64::from(need.days_left.unwrap_or_default()).saturating_mul(24 * 3600);
        let end = self.now.plus(left);
        if shown.valid_until.is_some_and(|until| until <= end) {
            unmet.push(Unmet::Ends { need: name() });
        }
        for condition in &need.conditions {
            if !self.holds(condition, shown) {
                let claim = condition.claim.join(".");
                unmet.push(Unmet::Claim {
                    need: name(),
                    claim,
                });
            }
        }
        unmet
    }

    fn holds(&self, condition: &Condition, shown: &ProvenCredential) -> bool {
        let Some(value) = at(&shown.claims, &condition.claim) else {
            return false;
        };
        let is_same_as = |other: &crate::ClaimOf| {
            let other = self
                .shown_for(&other.need)
                .and_then(|one| at(&one.claims, &other.claim));
            other.is_some_and(|other| is_same(value, other))
        };
        let number = value.as_f64();
        let today = Day::of(self.now);
        let day = value.as_str().and_then(of_date);
        let is_from = |first: &Day| day.is_some_and(|day| day >= first.on(today));
        let is_until = |last: &Day| day.is_some_and(|day| day <= last.on(today));
        condition
            .equals
            .as_ref()
            .is_none_or(|wanted| is_same(value, wanted))
            && (condition.one_of.is_empty()
                || condition.one_of.iter().any(|wanted| is_same(value, wanted)))
            && condition
                .at_least
                .is_none_or(|least| number.is_some_and(|one| one >= least))
            && condition
                .at_most
                .is_none_or(|most| number.is_some_and(|one| one <= most))
            && condition.not_before.as_ref().is_none_or(is_from)
            && condition.not_after.as_ref().is_none_or(is_until)
            && condition.same_as.as_ref().is_none_or(is_same_as)
    }
}

/// The value at a path of member names.
pub(crate) fn at<'a>(claims: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter()
        .try_fold(claims, |value, name| value.as_object()?.get(name))
}
