//! The six permits, and the organisations that issue them.

use std::collections::BTreeMap;

use selfsame_types::TypeDefinition;
use selfsame_types::file::read_toml;

/// A permit: a type, and who issues it.
#[derive(Clone, Copy, Debug)]
pub struct Permit {
    /// The id of the type.
    pub id: &'static str,
    /// The name of the organisation in addresses.
    pub organisation: &'static str,
    /// Its name for people.
    pub issuer: &'static str,
    file: &'static str,
}

/// An organisation that issues a permit.
#[derive(Clone, Debug)]
pub struct Office {
    /// What people call the permit.
    pub title: String,
    /// Its identifier as an issuer.
    pub issuer: String,
    /// The address where people get the permit.
    pub get_at: String,
}

/// The permits in the order in which a business can get them.
pub const PERMITS: [Permit; 6] = [
    Permit {
        id: "incorporation",
        organisation: "registries",
        issuer: "Registries (example)",
        file: include_str!("../permits/incorporation.toml"),
    },
    Permit {
        id: "clearance-letter",
        organisation: "worksafe",
        issuer: "Work safety board (example)",
        file: include_str!("../permits/clearance-letter.toml"),
    },
    Permit {
        id: "pst-number",
        organisation: "finance",
        issuer: "Ministry of finance (example)",
        file: include_str!("../permits/pst-number.toml"),
    },
    Permit {
        id: "operating-permit",
        organisation: "health",
        issuer: "Health authority (example)",
        file: include_str!("../permits/operating-permit.toml"),
    },
    Permit {
        id: "liquor-license",
        organisation: "liquor",
        issuer: "Liquor licensing branch (example)",
        file: include_str!("../permits/liquor-license.toml"),
    },
    Permit {
        id: "business-license",
        organisation: "city",
        issuer: "City (example)",
        file: include_str!("../permits/business-license.toml"),
    },
];

impl Permit {
    /// Its type as the file has it; none if the file is not valid, which a test detects.
    #[must_use]
    pub fn definition(&self) -> Option<TypeDefinition> {
        read_toml(self.file).ok()
    }

    /// Its type, with the offices that issue the needed ones by their permits' ids.
    #[must_use]
    pub fn accepting(&self, offices: &BTreeMap<&str, Office>) -> Option<TypeDefinition> {
        let mut definition = self.definition()?;
        let declared = definition.prerequisites.as_deref_mut();
        for need in declared
            .into_iter()
            .flat_map(|declared| &mut declared.needs)
        {
            let office = offices.get(need.name.as_str())?;
            need.title = Some(office.title.clone());
            need.issuers = vec![office.issuer.clone()];
            need.get_at = Some(office.get_at.clone());
        }
        Some(definition)
    }
}

impl Permit {
    /// Its type as the keeper of a book has it, who issues none.
    pub(crate) fn booked(&self) -> Option<TypeDefinition> {
        let mut definition = self.definition()?;
        definition.prerequisites = None;
        Some(definition)
    }
}

/// The permit with this id.
#[cfg(test)]
pub(crate) fn permit(id: &str) -> Option<&'static Permit> {
    PERMITS.iter().find(|permit| permit.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use selfsame_types::check;

    use super::*;

    #[test]
    fn every_type_passes_its_checks() {
        for permit in PERMITS {
            let definition = read_toml(permit.file).unwrap();
            assert_eq!(definition.id, permit.id);
            let found = check(&definition);
            assert_eq!(
                (found.refusals, found.advice),
                (vec![], vec![]),
                "{}",
                permit.id
            );
        }
    }

    #[test]
    fn each_permit_needs_earlier_ones_alone_and_each_is_one_of_the_six() {
        let mut earlier: Vec<&str> = Vec::new();
        let counts = PERMITS.map(|permit| {
            let definition = permit.definition().unwrap();
            let declared = definition.prerequisites.as_deref();
            let needs = declared.map_or(&[][..], |declared| &declared.needs);
            assert!(
                needs
                    .iter()
                    .all(|need| earlier.contains(&need.name.as_str()))
            );
            assert!(
                needs
                    .iter()
                    .all(|need| permit_has_vct(&need.name, &need.vct_values))
            );
            earlier.push(permit.id);
            needs.len()
        });
        assert_eq!(counts, [0, 1, 1, 2, 4, 5]);
    }

    fn permit_has_vct(id: &str, vct_values: &[String]) -> bool {
        let definition = permit(id).unwrap().definition().unwrap();
        [definition.vct.unwrap()] == *vct_values
    }

    #[test]
    fn a_book_shows_every_claim_of_a_permit() {
        for permit in PERMITS {
            let definition = permit.booked().unwrap();
            assert_eq!(check(&definition).refusals, vec![]);
            let mapping = definition.book.unwrap();
            let shown: BTreeSet<_> = mapping.claims().into_iter().map(|(_, path)| path).collect();
            for claim in &definition.claims {
                assert!(
                    shown.contains(&claim.path),
                    "{}: {:?}",
                    permit.id,
                    claim.path
                );
            }
        }
    }

    #[test]
    fn the_issuers_of_needed_permits_are_named() {
        let office = Office {
            title: "Incorporation".to_owned(),
            issuer: "did:example:a".to_owned(),
            get_at: "https://a.example/get/incorporation".to_owned(),
        };
        let offices = BTreeMap::from([("incorporation", office)]);
        let letter = permit("clearance-letter").unwrap();
        let accepting = letter.accepting(&offices).unwrap();
        let found = check(&accepting);
        assert_eq!(found.refusals, vec![]);
        assert_eq!(
            accepting.prerequisites.unwrap().needs[0].issuers,
            ["did:example:a"]
        );
        assert!(letter.accepting(&BTreeMap::new()).is_none());
    }
}
