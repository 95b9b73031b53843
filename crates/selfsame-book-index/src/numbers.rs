//! Two names with one number: numbers have 52 bits, so somebody can search for two names that have the same.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use selfsame_book::facts::{BookFacts, TopicKey};
use selfsame_book::number;

/// What has which number in an index.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NumberHolders {
    /// The identifiers of credentials.
    pub credentials: HashMap<i64, String>,
    /// The topics.
    pub topics: HashMap<i64, TopicKey>,
    /// Of sets, the number of the topic and the type.
    pub sets: HashMap<i64, SetHolder>,
}

/// What a set is of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SetHolder {
    /// The number of its topic.
    pub topic: i64,
    /// The id of the type of its credentials.
    pub type_id: String,
}

/// The numbers to ask an index for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AskedNumbers {
    /// Those of credentials.
    pub credentials: Vec<i64>,
    /// Those of topics.
    pub topics: Vec<i64>,
    /// Those of sets.
    pub sets: Vec<i64>,
}

/// An entry to be, by what its numbers follow from.
#[derive(Clone, Copy, Debug)]
pub struct NumberedEntry<'a> {
    /// Its identifier.
    pub credential_id: &'a str,
    /// The id of its type.
    pub type_id: &'a str,
    /// What it says.
    pub facts: &'a BookFacts,
}

/// Two names with one number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NumberClash {
    /// The place of the entry among those that were judged, from 0.
    pub place: usize,
    /// What the entry names.
    pub name: String,
    /// What has the number already.
    pub holder: String,
}

impl AskedNumbers {
    /// The numbers that these entries would have.
    #[must_use]
    pub fn of(entries: &[NumberedEntry<'_>]) -> Self {
        let mut asked = Self::default();
        for entry in entries {
            asked
                .credentials
                .push(number::credential(entry.credential_id));
            asked.topics.extend(entry.topics().map(number::topic));
            asked.sets.push(entry.set());
        }
        asked
    }
}

impl NumberHolders {
    /// The first of these entries of which a number is that of another name, in the index or among themselves.
    #[must_use]
    pub fn clash(mut self, entries: &[NumberedEntry<'_>]) -> Option<NumberClash> {
        let mut entries = entries.iter().enumerate();
        entries.find_map(|(place, entry)| {
            let (name, holder) = self.note(entry)?;
            Some(NumberClash {
                place,
                name,
                holder,
            })
        })
    }

    /// Notes the numbers of an entry; returns its name and the other one if a number is taken.
    fn note(&mut self, entry: &NumberedEntry<'_>) -> Option<(String, String)> {
        let credential = self
            .credentials
            .entry(number::credential(entry.credential_id));
        let holder = credential.or_insert_with(|| entry.credential_id.to_owned());
        if holder != entry.credential_id {
            return Some((entry.credential_id.to_owned(), holder.clone()));
        }
        for key in entry.topics() {
            let holder = self.topics.entry(number::topic(key));
            let holder = holder.or_insert_with(|| key.clone());
            if holder != key {
                return Some((named(key), named(holder)));
            }
        }
        let of = SetHolder {
            topic: number::topic(&entry.facts.topic),
            type_id: entry.type_id.to_owned(),
        };
        match self.sets.entry(entry.set()) {
            Entry::Vacant(free) => {
                free.insert(of);
                None
            }
            Entry::Occupied(taken) if *taken.get() == of => None,
            Entry::Occupied(taken) => {
                let name = format!("{} {}", entry.type_id, named(&entry.facts.topic));
                let SetHolder { topic, type_id } = taken.get();
                Some((name, format!("{type_id} {topic}")))
            }
        }
    }
}

impl<'a> NumberedEntry<'a> {
    /// The topics that it names: the one that it is about first.
    fn topics(&self) -> impl Iterator<Item = &'a TopicKey> {
        let related = self.facts.related.iter().map(|related| &related.topic);
        std::iter::once(&self.facts.topic).chain(related)
    }

    fn set(&self) -> i64 {
        number::credential_set(&self.facts.topic, self.type_id, &self.facts.cardinality)
    }
}

fn named(key: &TopicKey) -> String {
    format!("{} {}", key.kind, key.source_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(source_id: &str) -> BookFacts {
        BookFacts::about(TopicKey {
            kind: "registration".to_owned(),
            source_id: source_id.to_owned(),
        })
    }

    fn entry<'a>(credential_id: &'a str, facts: &'a BookFacts) -> NumberedEntry<'a> {
        NumberedEntry {
            credential_id,
            type_id: "registration",
            facts,
        }
    }

    #[test]
    fn two_topics_with_one_number_are_told_by_name() {
        // Found by a search of some seconds.
        let (one, other) = (facts("1084f0dcd2c38"), facts("e7bb945de7a60"));
        assert_eq!(number::topic(&one.topic), number::topic(&other.topic));
        let entries = [entry("a", &one), entry("b", &one), entry("c", &other)];
        let clash = NumberHolders::default().clash(&entries);
        let expected = NumberClash {
            place: 2,
            name: "registration e7bb945de7a60".to_owned(),
            holder: "registration 1084f0dcd2c38".to_owned(),
        };
        assert_eq!(clash, Some(expected));
        assert_eq!(NumberHolders::default().clash(&entries[..2]), None);
    }

    #[test]
    fn a_number_that_the_index_has_for_another_name_is_taken() {
        let own = facts("1");
        let entries = [entry("a", &own)];
        let asked = AskedNumbers::of(&entries);
        let taken = |change: fn(&mut NumberHolders, i64), number| {
            let mut holders = NumberHolders::default();
            change(&mut holders, number);
            holders.clash(&entries).map(|clash| clash.holder)
        };
        let credential = taken(
            |holders, number| drop(holders.credentials.insert(number, "b".to_owned())),
            asked.credentials[0],
        );
        assert_eq!(credential.as_deref(), Some("b"));
        let topic = taken(
            |holders, number| drop(holders.topics.insert(number, facts("2").topic)),
            asked.topics[0],
        );
        assert_eq!(topic.as_deref(), Some("registration 2"));
        let set = taken(
            |holders, number| {
                let type_id = "permit".to_owned();
                drop(holders.sets.insert(number, SetHolder { topic: 7, type_id }));
            },
            asked.sets[0],
        );
        assert_eq!(set.as_deref(), Some("permit 7"));
    }
}
