//! The status of cards: verified as a verifier would, and remembered, so that the list shows it without asking again.

use selfsame_credential::Held;
use selfsame_credential::evidence::Fetched;
use selfsame_credential::single_use::Use;
use selfsame_credential::verdict::{Outcome, Policy};
use selfsame_credential::verify::Examination;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, MAX_PAGE, Page, StoreError};

use super::{CARD, CardRecord, LEEWAY, policy, single_use};
use crate::Wallet;
use crate::view::{Card, Person};
use selfsame_core::gather::Freshness;
use selfsame_core::registry::UseKey;
use selfsame_openid_view::uses::CredentialUse;

impl Wallet {
    /// One card with its claims and its current status.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn card(&self, person: &Person, id: &str) -> Result<Card> {
        let record = self.shared.store.read(&person.tenant, CARD, id).await?;
        let record = record.ok_or_else(|| Error::not_found("card-unknown"))?;
        let card = CardRecord::read(&record)?;
        self.checked(person, card, record.version).await
    }

    /// Checks the status of a person's newest cards, for the list of them.
    ///
    /// # Errors
    /// The store's.
    pub async fn check_cards(&self, person: &Person) -> Result<()> {
        let page = Page::newest(MAX_PAGE);
        for record in self.shared.store.list(&person.tenant, CARD, &page).await? {
            let card = CardRecord::read(&record)?;
            self.checked(person, card, record.version).await?;
        }
        Ok(())
    }

    /// The card with its current status, which is remembered.
    async fn checked(&self, person: &Person, card: CardRecord, version: u64) -> Result<Card> {
        let held = card.held()?;
        let standing = self.standing(person, &held).await?;
        let mut shown = Card {
            summary: card.summary(self.shared.clock.now()),
            claims: card.all_lines(&held),
            status: standing.status.to_owned(),
            status_as_of: standing.as_of.map(UnixTime::rfc3339),
            used: None,
        };
        self.show_here(&mut shown.summary.display).await?;
        if let Some(fetched) = standing.seen_use.filter(|_| shown.status == "valid") {
            show_use(&mut shown, fetched);
        }
        self.remember(
            person,
            card,
            SeenStatus {
                version,
                status: &shown.status,
            },
        )
        .await?;
        shown.summary.status = Some(shown.status.clone());
        Ok(shown)
    }

    /// Remembers a card's status, unless the card has changed or gone meanwhile. A status that could not be learned
    /// leaves the earlier one.
    async fn remember(
        &self,
        person: &Person,
        mut card: CardRecord,
        seen: SeenStatus<'_>,
    ) -> Result<()> {
        let SeenStatus { version, status } = seen;
        if status == "unknown" || card.seen.as_deref() == Some(status) {
            return Ok(());
        }
        card.seen = Some(status.to_owned());
        let batch = Batch::new(person.tenant.clone())
            .expect(CARD, &card.id, Expect::Version(version))
            .put(selfsame_card_index::note(&card.id)?)
            .put(card.put()?)
            .deferred();
        match self.shared.store.commit(batch).await {
            Err(StoreError::Conflict { .. }) => Ok(()),
            other => Ok(other.map(drop)?),
        }
    }

    /// The card's status, verified as a verifier that trusts its issuer would: only the issuer can state it, and a
    /// status that someone else signed is ignored.
    async fn standing(&self, person: &Person, held: &Held) -> Result<CardStanding> {
        if let Some(status) = by_time(held, self.shared.clock.now()) {
            return Ok(CardStanding {
                status,
                as_of: None,
                seen_use: None,
            });
        }
        let freshness = Freshness { max_status_age: 60 };
        let policy = Policy {
            max_status_age: Some(freshness.max_status_age),
            ..policy(&self.shared)
        };
        let now = self.shared.clock.now();
        let examination = Examination::of(held);
        let key = single_use(held);
        let mut seen_use = None;
        let run = self.shared.run(&person.tenant, freshness, |evidence| {
            if let Some(UseKey { issuer, digest }) = &key {
                seen_use = evidence.single_use(issuer, digest).cloned();
            }
            Ok::<_, Error>(examination.step(&policy, evidence, now))
        });
        let (verdict, _) = run.await?;
        let status = match verdict.outcome {
            // The registry's statement on a single-use card is shown in addition.
            Outcome::Valid | Outcome::Spent => "valid",
            Outcome::Revoked | Outcome::Suspended | Outcome::Expired | Outcome::NotYetValid => {
                verdict.outcome.as_str()
            }
            Outcome::NotAuthorised
            | Outcome::Untrusted
            | Outcome::Unverifiable
            | Outcome::Invalid => "unknown",
        };
        Ok(CardStanding {
            status,
            as_of: verdict.as_of.map(UnixTime),
            seen_use,
        })
    }
}

/// A card's status as it was just learned, and the version of its record.
struct SeenStatus<'a> {
    version: u64,
    status: &'a str,
}

/// The status of a card.
struct CardStanding {
    /// The word for it in the interfaces.
    status: &'static str,
    /// When the oldest evidence for it was fetched.
    as_of: Option<UnixTime>,
    /// The registry's answer about a single-use card, if it was asked.
    seen_use: Option<Fetched<Option<Use>>>,
}

/// Adds the registry's answer about a single-use card.
fn show_use(card: &mut Card, Fetched { value, at }: Fetched<Option<Use>>) {
    card.status_as_of = Some(at.rfc3339());
    match value {
        Ok(None) => {}
        Ok(Some(used)) => {
            used.action.as_str().clone_into(&mut card.status);
            card.used = Some(CredentialUse::of(&used));
        }
        Err(_) => "unknown".clone_into(&mut card.status),
    }
}

/// The status by the credential's own times, unless valid; verifiers apply the start of validity in the same way.
fn by_time(held: &Held, now: UnixTime) -> Option<&'static str> {
    if held.expires().is_some_and(|expires| expires <= now) {
        return Some("expired");
    }
    let has_begun = held.validity().has_begun(now, LEEWAY);
    (!has_begun).then_some("not_yet_valid")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::tests::held;
    use super::*;

    #[test]
    fn a_card_is_valid_between_its_times_alone() {
        let now = UnixTime(1_000_000);
        let told = |claims: Value| by_time(&held(&json!({}), &claims), now);
        assert_eq!(told(json!({"nbf": now.0 + 86_400})), Some("not_yet_valid"));
        assert_eq!(told(json!({"exp": now.0})), Some("expired"));
        assert_eq!(told(json!({"nbf": now.0, "exp": now.0 + 1})), None);
        // Clocks differ.
        assert_eq!(told(json!({"nbf": now.0 + 30})), None);
    }
}
