//! The groups of a person's cards: by issuer, by type or by state, with how many cards each has.

use askama::Template;
use selfsame_card_index::{CardGroup, CardGroups, GroupBy};

use super::ShownGroup;
use crate::Frame;
use crate::text::{short_name, words};

/// The groups of the cards.
#[derive(Template)]
#[template(path = "wallet_groups.html")]
pub struct GroupsPage {
    frame: Frame,
    /// What the cards of a group have in common.
    by: &'static str,
    /// The heading of the groups.
    heading: &'static str,
    ways: Vec<WayFace>,
    groups: Vec<GroupFace>,
    next: Option<String>,
    is_complete: bool,
}

/// A link to another way of grouping.
struct WayFace {
    name: &'static str,
    words: &'static str,
    is_current: bool,
}

/// How a group looks.
struct GroupFace {
    title: String,
    /// What stands below the title, unless the title says it.
    key: Option<String>,
    /// The part of a query that asks for its cards.
    query: String,
    cards: usize,
}

impl GroupFace {
    fn of(group: CardGroup, by: GroupBy) -> Self {
        let query = ShownGroup {
            by,
            key: group.key.clone(),
        }
        .query();
        let (title, key) = match by {
            GroupBy::State => (words(&group.key), None),
            GroupBy::Issuer if group.title.is_empty() => (short_name(&group.key), Some(group.key)),
            _ => (group.title, Some(group.key)),
        };
        Self {
            key: key.filter(|key| *key != title),
            title,
            query,
            cards: group.cards,
        }
    }
}

impl GroupsPage {
    /// The page of these groups.
    pub fn of(frame: Frame, by: GroupBy, groups: CardGroups) -> Self {
        let faces = groups.items.into_iter();
        let way = |way: GroupBy| WayFace {
            name: way.as_str(),
            words: of_way(way),
            is_current: way == by,
        };
        Self {
            frame: frame.titled("Groups of cards"),
            by: by.as_str(),
            heading: of_way(by),
            ways: GroupBy::ALL.into_iter().map(way).collect(),
            groups: faces.map(|group| GroupFace::of(group, by)).collect(),
            next: groups.next,
            is_complete: groups.is_complete,
        }
    }
}

/// What groups are by, in words.
fn of_way(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Issuer => "Issuer",
        GroupBy::Type => "Type",
        GroupBy::State => "State",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(key: &str, title: &str) -> CardGroup {
        CardGroup {
            key: key.to_owned(),
            title: title.to_owned(),
            cards: 1_234,
        }
    }

    fn page(by: GroupBy, groups: Vec<CardGroup>, next: Option<&str>) -> String {
        let groups = CardGroups {
            items: groups,
            next: next.map(str::to_owned),
            is_complete: next.is_none(),
        };
        let page = GroupsPage::of(Frame::of_visitor(), by, groups);
        page.render().unwrap()
    }

    #[test]
    fn a_group_leads_to_its_cards_whatever_its_issuer_is_called() {
        let groups = vec![group("https://a.example/?x&y", "<b>Clinic</b>")];
        let shown = page(GroupBy::Issuer, groups, None);
        let link = "/wallet?issuer=https%3A%2F%2Fa.example%2F%3Fx%26y";
        assert!(
            shown.contains(link) && !shown.contains("<b>Clinic"),
            "{shown}"
        );
        assert!(shown.contains("1234 cards"), "{shown}");
        assert!(!shown.contains("<script>") && !shown.contains(" style="));
    }

    #[test]
    fn a_state_is_said_in_words_and_the_way_in_use_is_marked() {
        let shown = page(GroupBy::State, vec![group("not_yet_valid", "")], None);
        assert!(shown.contains("not yet valid"), "{shown}");
        assert!(
            shown.contains("by=state\" aria-current=\"page\""),
            "{shown}"
        );
        assert!(!shown.contains("still being counted"), "{shown}");
    }

    #[test]
    fn further_groups_have_a_link_and_a_count_that_goes_on_is_told() {
        let shown = page(GroupBy::Type, vec![group("urn:x", "Card")], Some("abc"));
        assert!(shown.contains("by=type&amp;after=abc"), "{shown}");
        assert!(shown.contains("still being counted"), "{shown}");
        let none = page(GroupBy::Type, Vec::new(), None);
        assert!(none.contains("No cards yet"), "{none}");
    }
}
