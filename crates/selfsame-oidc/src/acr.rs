//! Authentication context classes: what a client may demand of a sign-in, and the factors that meet it.

use crate::factor::FactorKind;

/// The classes of a provider, strongest first.
#[derive(Clone, Debug)]
pub struct AcrTable(Vec<AcrRow>);

/// One class.
#[derive(Clone, Debug)]
pub struct AcrRow {
    /// Its name in `acr`.
    pub name: String,
    /// The combinations of factors that meet it.
    pub factors: Vec<Vec<FactorKind>>,
}

impl AcrRow {
    fn single(name: &str, factor: FactorKind) -> Self {
        Self {
            name: name.to_owned(),
            factors: vec![vec![factor]],
        }
    }
}

impl Default for AcrTable {
    fn default() -> Self {
        let second = [FactorKind::Totp, FactorKind::Otp];
        let two = second.map(|second| vec![FactorKind::Password, second]);
        let mut rows = vec![
            // OpenID Connect Extended Authentication Profile ACR Values 1.0 §3.
            AcrRow::single("phr", FactorKind::Passkey),
            AcrRow {
                name: "urn:selfsame:acr:two-factors".to_owned(),
                factors: two.into(),
            },
        ];
        rows.extend([
            AcrRow::single("urn:selfsame:acr:presentation", FactorKind::Presentation),
            AcrRow::single("urn:selfsame:acr:otp", FactorKind::Otp),
            AcrRow::single("urn:selfsame:acr:password", FactorKind::Password),
            AcrRow::single("urn:selfsame:acr:upstream", FactorKind::Upstream),
        ]);
        Self(rows)
    }
}

impl AcrTable {
    /// These classes, strongest first.
    #[must_use]
    pub fn of(rows: Vec<AcrRow>) -> Self {
        Self(rows)
    }

    /// The classes with those that MOSIP defines for eSignet.
    #[must_use]
    pub fn with_mosip(mut self) -> Self {
        let row = |name: &str, factor| AcrRow::single(&format!("mosip:idp:acr:{name}"), factor);
        self.0.extend([
            row("biometrics", FactorKind::Biometrics),
            row("linked-wallet", FactorKind::LinkedWallet),
            row("generated-code", FactorKind::Otp),
            row("static-code", FactorKind::Pin),
            row("password", FactorKind::Password),
            row("knowledge", FactorKind::Knowledge),
            row("id-token", FactorKind::Upstream),
        ]);
        self
    }

    /// The names of all classes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|row| row.name.as_str())
    }

    /// The combinations of factors that meet one of these classes, in the order of the names, as far as the factors can
    /// be checked.
    #[must_use]
    pub fn factors(&self, names: &[String], known: &[FactorKind]) -> Vec<Vec<FactorKind>> {
        let mut found: Vec<Vec<FactorKind>> = Vec::new();
        for name in names {
            let rows = self.0.iter().filter(|row| row.name == *name);
            for factors in rows.flat_map(|row| &row.factors) {
                let can = factors.iter().all(|factor| known.contains(factor));
                if can && !found.contains(factors) {
                    found.push(factors.clone());
                }
            }
        }
        found
    }

    /// The first of these classes that the factors meet; of all classes if none is named.
    #[must_use]
    pub fn met(&self, names: &[String], given: &[FactorKind]) -> Option<&str> {
        let meets = |factors: &Vec<FactorKind>| factors.iter().all(|one| given.contains(one));
        let is_met = |row: &&AcrRow| row.factors.iter().any(meets);
        match names {
            [] => self.0.iter().find(is_met),
            names => names.iter().find_map(|name| {
                let row = self.0.iter().find(|row| row.name == *name);
                row.filter(is_met)
            }),
        }
        .map(|row| row.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_factors_of_a_class_are_those_that_can_be_checked() {
        let table = AcrTable::default();
        let known = [FactorKind::Password, FactorKind::Otp];
        let asked = names(&["phr", "urn:selfsame:acr:two-factors", "unknown"]);
        let both = vec![FactorKind::Password, FactorKind::Otp];
        assert_eq!(table.factors(&asked, &known), std::slice::from_ref(&both));
        assert_eq!(
            table.met(&asked, &both),
            Some("urn:selfsame:acr:two-factors")
        );
        assert_eq!(table.met(&asked, &[FactorKind::Otp]), None);
    }

    #[test]
    fn without_a_demand_the_strongest_class_that_is_met_counts() {
        let table = AcrTable::default().with_mosip();
        let met = table.met(&[], &[FactorKind::Password]);
        assert_eq!(met, Some("urn:selfsame:acr:password"));
        assert_eq!(
            table.met(&[], &[FactorKind::Pin]),
            Some("mosip:idp:acr:static-code")
        );
    }
}
