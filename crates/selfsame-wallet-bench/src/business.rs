//! Invented businesses that look like real ones. The same seed gives the same businesses.

use selfsame_crypto::hash::sha256_parts;
use serde::Serialize;
use serde_json::{Map, Value, json};

const FIRST: [&str; 20] = [
    "Cedar",
    "Harbour",
    "Granite",
    "Silver",
    "Maple",
    "Northern",
    "Coastal",
    "Copper",
    "Juniper",
    "Orchard",
    "Summit",
    "Tidewater",
    "Willow",
    "Golden",
    "Riverside",
    "Heron",
    "Lantern",
    "Saffron",
    "Meadow",
    "Driftwood",
];
const SECOND: [&str; 20] = [
    "Noodle House",
    "Kitchen",
    "Brewing",
    "Grill",
    "Bakery",
    "Coffee Roasters",
    "Tapas Bar",
    "Curry House",
    "Sushi",
    "Pizzeria",
    "Garden Café",
    "Oyster Bar",
    "Taqueria",
    "Dumplings",
    "Smokehouse",
    "Bistro",
    "Creamery",
    "Pho",
    "Diner",
    "Catering",
];
const STREETS: [&str; 14] = [
    "Sample Street",
    "Example Avenue",
    "Specimen Road",
    "Model Crescent",
    "Trial Boulevard",
    "Instance Lane",
    "Pattern Drive",
    "Draft Court",
    "Proof Place",
    "Placeholder Way",
    "Demonstration Highway",
    "Prototype Close",
    "Mock Terrace",
    "Fixture Mews",
];
/// Letters that no postal code of Canada has.
const UNUSED: [&str; 6] = ["D", "F", "I", "O", "Q", "U"];
/// Kinds of organisations with the end of their names, and how many of twenty have them.
const KINDS: [BusinessKind; 5] = [
    BusinessKind {
        name: "limited company",
        end: " Ltd.",
        of_twenty: 13,
    },
    BusinessKind {
        name: "sole proprietorship",
        end: "",
        of_twenty: 3,
    },
    BusinessKind {
        name: "partnership",
        end: " and Partners",
        of_twenty: 2,
    },
    BusinessKind {
        name: "cooperative",
        end: " Co-operative",
        of_twenty: 1,
    },
    BusinessKind {
        name: "community contribution company",
        end: " CCC Ltd.",
        of_twenty: 1,
    },
];

struct BusinessKind {
    name: &'static str,
    end: &'static str,
    of_twenty: u64,
}

/// An invented business.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Business {
    /// Its number among those of its seed.
    pub number: u64,
    /// Its name.
    pub legal_name: String,
    /// What kind of organisation it is.
    pub org_type: String,
    /// Its entity number.
    pub legal_entity_id: String,
    /// Its registration number.
    pub corp_num: String,
    /// When it was founded, `YYYY-MM-DD`.
    pub founded: String,
    /// Its address: the first line.
    pub address_line_1: String,
    /// The second line, which a third of them have.
    pub address_line_2: Option<String>,
    /// Its postal code.
    pub postal_code: String,
    /// Number of seats.
    pub seats: u64,
}

impl Business {
    /// The business of this number of a seed.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        let mut dice = Dice {
            seed,
            number,
            draws: 0,
        };
        let kind = kind(dice.below(20));
        let (first, second) = (dice.one(&FIRST), dice.one(&SECOND));
        let has_unit = dice.below(3) == 0;
        // Numbers of two seeds differ too, so that their businesses can live in one instance.
        let serial = seed.wrapping_mul(1_000_003).wrapping_add(number);
        Self {
            number,
            legal_name: format!("{first} {second}{}", kind.end),
            org_type: kind.name.to_owned(),
            legal_entity_id: format!("TEST-{serial:010}"),
            corp_num: format!("TEST-BC{serial:010}"),
            founded: format!(
                "{:04}-{:02}-{:02}",
                2_000 + dice.below(26),
                1 + dice.below(12),
                1 + dice.below(28)
            ),
            address_line_1: format!("{} {}", 100 + dice.below(19_900), dice.one(&STREETS)),
            address_line_2: has_unit.then(|| format!("Unit {}", 1 + dice.below(80))),
            postal_code: format!(
                "V{}{} {}{}{}",
                dice.below(10),
                dice.one(&UNUSED),
                dice.below(10),
                dice.one(&UNUSED),
                dice.below(10)
            ),
            seats: 8 + dice.below(193),
        }
    }

    /// What the registrar writes into the incorporation.
    #[must_use]
    pub fn incorporation(&self) -> Map<String, Value> {
        let mut claims = members(json!({
            "legal_entity_id": self.legal_entity_id,
            "legal_name": self.legal_name,
            "org_type": self.org_type,
            "corp_num": self.corp_num,
            "effective_date": self.founded,
            "addressee": self.legal_name,
            "address_line_1": self.address_line_1,
            "city": "Surrey",
            "province": "BC",
            "postal_code": self.postal_code,
            "country": "CA",
        }));
        if let Some(line) = &self.address_line_2 {
            claims.insert("address_line_2".to_owned(), line.as_str().into());
        }
        claims
    }

    /// What the business itself writes into the form of a permit: what no earlier one proves.
    #[must_use]
    pub fn typed(&self, permit: &str) -> Map<String, Value> {
        let rating = match self.seats {
            0..=60 => "low",
            61..=140 => "moderate",
            _ => "high",
        };
        members(match permit {
            "operating-permit" => json!({
                "premises": format!("Restaurant with {} seats", self.seats),
                "hazard_rating": rating,
            }),
            "liquor-license" => json!({
                "license_class": "food primary",
                "seats": self.seats,
                "hours": "11:00 to 23:00",
            }),
            _ => json!({}),
        })
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn kind(mut drawn: u64) -> &'static BusinessKind {
    let [first, ..] = &KINDS;
    let found = KINDS.iter().find(|kind| {
        let is_it = drawn < kind.of_twenty;
        drawn = drawn.saturating_sub(kind.of_twenty);
        is_it
    });
    found.unwrap_or(first)
}

/// Numbers that depend on a seed and a business alone.
struct Dice {
    seed: u64,
    number: u64,
    draws: u64,
}

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        let parts = [self.seed, self.number, self.draws].map(u64::to_be_bytes);
        let parts: Vec<&[u8]> = parts.iter().map(<[u8; 8]>::as_slice).collect();
        self.draws += 1;
        let [a, b, c, d, e, f, g, h, ..] = sha256_parts(&parts);
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) % end
    }

    fn one(&mut self, of: &[&'static str]) -> &'static str {
        let place = self.below(of.len() as u64);
        of.get(usize::try_from(place).unwrap_or_default())
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::permits::permit;

    #[test]
    fn a_seed_gives_the_same_businesses_again_and_another_seed_gives_others() {
        let all = |seed| {
            (0..500)
                .map(|number| Business::of(seed, number))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(7), all(7));
        let numbers =
            |seed| -> BTreeSet<String> { all(seed).into_iter().map(|one| one.corp_num).collect() };
        assert_eq!(numbers(7).len(), 500);
        assert!(numbers(7).is_disjoint(&numbers(8)));
    }

    #[test]
    fn kinds_and_names_are_spread_as_among_real_businesses() {
        let all: Vec<Business> = (0..2_000).map(|number| Business::of(1, number)).collect();
        let share = |kind: &str| all.iter().filter(|one| one.org_type == kind).count();
        assert!((1_200..1_400).contains(&share("limited company")));
        assert!(KINDS.iter().all(|kind| share(kind.name) > 50));
        let names: BTreeSet<&str> = all.iter().map(|one| one.legal_name.as_str()).collect();
        assert!(names.len() > 700, "{}", names.len());
        let with_unit = all
            .iter()
            .filter(|one| one.address_line_2.is_some())
            .count();
        assert!((550..780).contains(&with_unit), "{with_unit}");
    }

    proptest! {
        #[test]
        fn every_business_fits_the_type_of_its_incorporation(seed in any::<u64>(), number in any::<u64>()) {
            let one = Business::of(seed, number);
            let definition = permit("incorporation").unwrap().definition().unwrap();
            prop_assert!(definition.fill(&one.incorporation(), false).is_ok());
        }
    }
}
