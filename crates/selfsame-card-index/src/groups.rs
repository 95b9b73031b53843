//! Groups of cards: by issuer, by type and by state, counted in the index, and pages of the cards of one group.

use std::collections::HashMap;

use selfsame_crypto::time::UnixTime;
use selfsame_driver::paging::{Listing, Paging, part};
use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::index::{CardRow, IndexedCard, IndexedCards};

/// How to group cards.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Grouping {
    /// What the cards of a group have in common.
    pub by: GroupBy,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of groups; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "selfsame_driver::paging::at_least_one")]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// What the cards of a group have in common.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// Their issuer.
    Issuer,
    /// Their type.
    Type,
    /// Their status when it was last checked, or that they have expired.
    State,
}

impl GroupBy {
    /// All ways to group cards.
    pub const ALL: [Self; 3] = [Self::Issuer, Self::Type, Self::State];

    /// The word for it in addresses.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Issuer => "issuer",
            Self::Type => "type",
            Self::State => "state",
        }
    }
}

/// A group of cards.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct CardGroup {
    /// What its cards have in common: an issuer, a type or a state. The list of cards takes it as a filter.
    pub key: String,
    /// The issuer's name for itself, or the title of the type, on the card of the group that was received last.
    pub title: String,
    /// How many cards it has.
    pub cards: usize,
}

/// Groups of cards, the largest first.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct CardGroups {
    /// The groups.
    pub items: Vec<CardGroup>,
    /// The cursor of the next page; absent at the end.
    pub next: Option<String>,
    /// Whether every card is counted. A wallet of many cards that was not grouped before is counted in several requests.
    pub is_complete: bool,
}

/// The groups of these cards at this time, the largest first.
///
/// # Errors
/// `BadRequest` for a cursor that was made up.
pub fn groups(cards: &IndexedCards, grouping: &Grouping, now: UnixTime) -> Result<CardGroups> {
    let key = |row: &CardRow| match grouping.by {
        GroupBy::Issuer => row.issuer.clone(),
        GroupBy::Type => row.type_name.clone(),
        GroupBy::State => row.state(now).to_owned(),
    };
    let groups = counted(&cards.rows, grouping.by, key);
    let paging = Paging {
        after: grouping.after.clone(),
        limit: grouping.limit,
    };
    let listed = part(groups, &paging, |group| group.key.clone())?;
    Ok(CardGroups {
        items: listed.items,
        next: listed.next,
        is_complete: cards.is_whole,
    })
}

/// The groups of these cards. A group is called as its newest card is.
fn counted(rows: &[IndexedCard], by: GroupBy, key: impl Fn(&CardRow) -> String) -> Vec<CardGroup> {
    struct CountedGroup<'a> {
        cards: usize,
        newest: &'a CardRow,
    }
    let mut groups: HashMap<String, CountedGroup<'_>> = HashMap::new();
    for IndexedCard { row, .. } in rows {
        let group = groups.entry(key(row)).or_insert(CountedGroup {
            cards: 0,
            newest: row,
        });
        group.cards = group.cards.saturating_add(1);
        if row.seq > group.newest.seq {
            group.newest = row;
        }
    }
    let named = groups
        .into_iter()
        .map(|(key, CountedGroup { cards, newest })| {
            let title = match by {
                GroupBy::Issuer => newest.issuer_name.clone().unwrap_or_default(),
                GroupBy::Type => newest.title.clone(),
                GroupBy::State => key.clone(),
            };
            CardGroup { key, title, cards }
        });
    let mut named: Vec<CardGroup> = named.collect();
    named.sort_by(|one, other| (other.cards, &one.key).cmp(&(one.cards, &other.key)));
    named
}

/// The ids of a page of these cards, with the cursor of the next page: a place in the order of receipt, as lists of
/// records have it.
///
/// # Errors
/// `BadRequest` for a cursor that is no place.
pub fn page_of(
    mut cards: Vec<IndexedCard>,
    oldest_first: bool,
    paging: &Paging,
) -> Result<Listing<String>> {
    let after: Option<u64> = (paging.cursor().map(str::parse).transpose())
        .map_err(|_| Error::bad_request("cursor-invalid"))?;
    cards.sort_by_key(|card| card.row.seq);
    if oldest_first {
        cards.retain(|card| after.is_none_or(|after| card.row.seq > after));
    } else {
        cards.reverse();
        cards.retain(|card| after.is_none_or(|after| card.row.seq < after));
    }
    let is_more = cards.len() > paging.limit();
    cards.truncate(paging.limit());
    let last = cards.last().filter(|_| is_more);
    let next = last.map(|card| card.row.seq.to_string());
    let items = cards.into_iter().map(|card| card.id).collect();
    Ok(Listing { items, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(seq: u64, issuer: &str, name: Option<&str>) -> IndexedCard {
        IndexedCard {
            id: format!("card-{seq}"),
            row: CardRow {
                seq,
                issuer: issuer.to_owned(),
                issuer_name: name.map(str::to_owned),
                type_name: "urn:x".to_owned(),
                title: "Card".to_owned(),
                seen: None,
                expires: None,
            },
        }
    }

    #[test]
    fn the_largest_group_comes_first_and_has_the_name_on_its_newest_card() {
        let cards = [
            card(1, "did:one", Some("Old name")),
            card(3, "did:one", Some("New name")),
            card(2, "did:two", None),
        ];
        let groups = counted(&cards, GroupBy::Issuer, |row| row.issuer.clone());
        let told: Vec<(&str, &str, usize)> = groups
            .iter()
            .map(|group| (&*group.key, &*group.title, group.cards))
            .collect();
        assert_eq!(told, [("did:one", "New name", 2), ("did:two", "", 1)]);
    }

    #[test]
    fn the_pages_of_a_group_have_each_card_once_in_either_order() {
        let all = || {
            (1..=7)
                .map(|seq| card(seq, "did:one", None))
                .collect::<Vec<_>>()
        };
        for oldest_first in [false, true] {
            let (mut seen, mut after) = (Vec::new(), None);
            loop {
                let paging = Paging {
                    after,
                    limit: Some(3),
                };
                let page = page_of(all(), oldest_first, &paging).unwrap();
                seen.extend(page.items);
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            let mut wanted: Vec<String> = (1..=7).map(|seq| format!("card-{seq}")).collect();
            if !oldest_first {
                wanted.reverse();
            }
            assert_eq!(seen, wanted);
        }
        let made_up = Paging {
            after: Some("x".to_owned()),
            limit: None,
        };
        let refused = page_of(all(), false, &made_up).unwrap_err();
        assert_eq!(refused.reason.id(), "cursor-invalid");
    }
}
