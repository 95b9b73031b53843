//! How a revocation registry differs from what the ledger has, why, and what is done about it, in sentences.

use std::collections::BTreeSet;

use selfsame_anoncreds_wallet::RegistryView;
use selfsame_anoncreds_wallet::revocation::RegistryDifference;
use selfsame_catalogue::{english, when};
use selfsame_crypto::time::UnixTime;

/// Places that are named one by one; of more, the number is said.
const NAMED: usize = 20;

/// The sentences about a difference, the most important one first.
pub fn sentences(here: &RegistryView, found: &RegistryDifference) -> Vec<String> {
    let mut told = Vec::new();
    if !found.only_here.is_empty() {
        told.push(format!(
            "The ledger does not have {} as revoked, although it confirmed that before. The ledger may have been set back. Nothing heals this by itself: compare the ledger with its other nodes and its backups.",
            places(&found.only_here)
        ));
    }
    if !found.only_ledger.is_empty() {
        let healing = match found.waiting_since {
            Some(since) => format!(
                "Its answer to the transaction of {} has not arrived here. The agent asks again until it does, and then takes this over.",
                time(since)
            ),
            None => "The agent learned nothing of it, as after a backup was restored. It takes this over when it writes its next revocation.".to_owned(),
        };
        told.push(format!(
            "The ledger has {} as revoked, and this agent does not know it yet. {healing}",
            places(&found.only_ledger)
        ));
    }
    let unwritten: BTreeSet<u32> = found
        .unwritten
        .difference(&found.only_ledger)
        .copied()
        .collect();
    if !unwritten.is_empty() {
        told.push(format!(
            "The ledger does not have {} as revoked yet. {}",
            places(&unwritten),
            writing(found)
        ));
    }
    if told.is_empty() {
        told.push(format!(
            "The ledger has {} of this registry, and this agent knows {}. The agent takes over what it lacks when it writes its next revocation.",
            entries(found.entries),
            here.entries
        ));
    }
    told
}

/// What is done about revocations that the ledger does not have.
fn writing(found: &RegistryDifference) -> String {
    let refused = found.refused.as_ref().map(english);
    match (found.waiting_since, refused) {
        (Some(since), None) => format!(
            "The transaction was sent on {}. The agent waits for the ledger’s answer, and sends it again until the answer comes.",
            time(since)
        ),
        (Some(since), Some(why)) => format!(
            "The ledger refused the transaction before: {why}. A new one was sent on {}, and the agent waits for the answer.",
            time(since)
        ),
        (None, Some(why)) => format!(
            "The ledger refused the last transaction: {why}. The agent makes a new one within a minute."
        ),
        (None, None) => "The next transaction revokes them.".to_owned(),
    }
}

/// Places in words.
pub fn places(places: &BTreeSet<u32>) -> String {
    let named: Vec<String> = places.iter().take(NAMED).map(u32::to_string).collect();
    match places.len() {
        1 => format!("place {}", named.concat()),
        few if few <= NAMED => format!("places {}", named.join(", ")),
        more => format!("{more} places"),
    }
}

fn entries(count: u64) -> String {
    match count {
        1 => "1 entry".to_owned(),
        _ => format!("{count} entries"),
    }
}

fn time(seconds: u64) -> String {
    when::short(&UnixTime(seconds).rfc3339())
}

#[cfg(test)]
mod tests {
    use selfsame_anoncreds_wallet::RegistryStage;
    use selfsame_driver::Reason;

    use super::*;

    fn here() -> RegistryView {
        RegistryView {
            rev_reg_id: "registry".to_owned(),
            cred_def_id: "definition".to_owned(),
            number: 1,
            issuer_id: "did:example:1".to_owned(),
            stage: RegistryStage::Ready,
            size: 1_000,
            begun: 0,
            tails_hash: None,
            revoked: BTreeSet::new(),
            pending: BTreeSet::new(),
            writing: BTreeSet::new(),
            entries: 1,
            changed: 0,
        }
    }

    fn nothing() -> RegistryDifference {
        RegistryDifference {
            only_ledger: BTreeSet::new(),
            only_here: BTreeSet::new(),
            unwritten: BTreeSet::new(),
            entries: 1,
            waiting_since: None,
            refused: None,
        }
    }

    fn told(found: RegistryDifference) -> String {
        sentences(&here(), &found).join(" ")
    }

    #[test]
    fn a_revocation_that_is_under_way_is_said_with_its_time() {
        let told = told(RegistryDifference {
            unwritten: BTreeSet::from([3, 7]),
            waiting_since: Some(1_764_408_600),
            ..nothing()
        });
        assert!(
            told.contains("places 3, 7") && told.contains("29 Nov 2025, 09:30 UTC"),
            "{told}"
        );
        assert!(told.contains("sends it again"), "{told}");
    }

    #[test]
    fn a_refused_transaction_is_said_with_its_reason() {
        let told = told(RegistryDifference {
            unwritten: BTreeSet::from([3]),
            refused: Some(Reason::new("agent-absent")),
            ..nothing()
        });
        assert!(
            told.contains("place 3 ") && told.contains("there is no such agent here"),
            "{told}"
        );
        assert!(told.contains("within a minute"), "{told}");
    }

    #[test]
    fn what_the_ledger_alone_has_is_said_once() {
        let told = told(RegistryDifference {
            only_ledger: BTreeSet::from([3]),
            unwritten: BTreeSet::from([3]),
            waiting_since: Some(1_764_408_600),
            ..nothing()
        });
        assert_eq!(told.matches("place 3").count(), 1, "{told}");
        assert!(told.contains("has not arrived here"), "{told}");
    }

    #[test]
    fn a_ledger_that_was_set_back_is_said_to_heal_by_nobody() {
        let only_here = (1..=30).collect();
        let told = told(RegistryDifference {
            only_here,
            ..nothing()
        });
        assert!(
            told.contains("30 places") && told.contains("Nothing heals this by itself"),
            "{told}"
        );
    }

    #[test]
    fn entries_that_differ_are_said() {
        let told = told(RegistryDifference {
            entries: 3,
            ..nothing()
        });
        assert!(
            told.contains("has 3 entries") && told.contains("knows 1"),
            "{told}"
        );
    }
}
