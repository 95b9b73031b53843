//! Everything that a wallet keeps of a person, in parts: what the person can take along or look through.

use selfsame_driver::Result;
use selfsame_driver::paging::{Paging, listing, page};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Wallet;
use crate::cards::{CARD, CardRecord};
use crate::view::Person;

/// What a wallet keeps, in the order in which it is given.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HeldSection {
    /// The account, with its passkeys.
    Account,
    /// The cards, with the credentials as their issuers signed them.
    Cards,
    /// What was received and shown.
    History,
    /// The keys that the person made, without their private parts.
    Keys,
    /// The DIDs.
    Dids,
}

impl HeldSection {
    /// All sections.
    pub const ALL: [Self; 5] = [
        Self::Account,
        Self::Cards,
        Self::History,
        Self::Keys,
        Self::Dids,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Cards => "card",
            Self::History => "history",
            Self::Keys => "key",
            Self::Dids => "did",
        }
    }
}

/// A part of a section.
#[derive(Debug)]
pub struct HeldPart {
    /// Its entries, each with a member `kind`.
    pub entries: Vec<Value>,
    /// The cursor of the next part of the section.
    pub next: Option<String>,
}

impl HeldPart {
    fn of<T: Serialize>(section: HeldSection, items: &[T], next: Option<String>) -> Self {
        let entry = |item: &T| json!({"kind": section.name(), "entry": item});
        Self {
            entries: items.iter().map(entry).collect(),
            next,
        }
    }
}

impl Wallet {
    /// A part of everything that is kept of a person.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn everything(
        &self,
        person: &Person,
        section: HeldSection,
        after: Option<String>,
    ) -> Result<HeldPart> {
        let paging = Paging {
            after,
            ..Paging::longest()
        };
        Ok(match section {
            HeldSection::Account => {
                let passkeys = self.accounts().passkeys(person).await?;
                let passkeys = passkeys.iter().map(|one| {
                    json!({
                        "name": one.name,
                        "added": one.added.rfc3339(),
                        "used": one.used.map(|used| used.rfc3339()),
                    })
                });
                let account = json!({
                    "email": person.email,
                    "passkeys": passkeys.collect::<Vec<_>>(),
                });
                HeldPart::of(section, &[account], None)
            }
            HeldSection::Cards => self.held_cards(person, &paging).await?,
            HeldSection::History => {
                let listed = self.history(person, &paging).await?;
                HeldPart::of(section, &listed.items, listed.next)
            }
            HeldSection::Keys => {
                let listed = self.keys(person, &paging).await?;
                HeldPart::of(section, &listed.items, listed.next)
            }
            HeldSection::Dids => {
                let listed = self.dids(person, &paging).await?;
                HeldPart::of(section, &listed.items, listed.next)
            }
        })
    }

    async fn held_cards(&self, person: &Person, paging: &Paging) -> Result<HeldPart> {
        let store = &self.shared.store;
        let records = store.list(&person.tenant, CARD, &page(paging)).await?;
        let now = self.shared.clock.now();
        let listed = listing(&records, paging, |record| {
            let card = CardRecord::read(record)?;
            let summary = card.summary(now);
            Ok(json!({"summary": summary, "credential": card.raw}))
        })?;
        Ok(HeldPart::of(HeldSection::Cards, &listed.items, listed.next))
    }
}
