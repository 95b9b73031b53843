//! Whether the issuers of entries may still be relied on: organisations of this instance can be suspended, and an issuer
//! can lose the trust of the organisation that keeps the book.

use std::collections::HashSet;
use std::sync::Arc;

use selfsame_book_view::v4::IssuerStanding;
use selfsame_core::organisation::trust::TrustInAll;
use selfsame_driver::Result;

use crate::books::Book;

/// What is known of issuers.
#[derive(Default)]
pub(crate) struct Standings {
    /// The names under which the organisation that keeps the book issues.
    pub own: Vec<String>,
    inactive: Arc<HashSet<String>>,
    /// The trusted issuers, if they are listed one by one.
    trusted: Option<HashSet<String>>,
}

impl Book {
    /// What is known now of issuers.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn standings(&self, own: Vec<String>) -> Result<Standings> {
        let inactive = self.books.inactive_issuers().await?;
        let trusted = match self.roles.trust() {
            Some(trust) => {
                let instance = self.shared().trust.now();
                let list = trust.now().await?;
                let all = TrustInAll::of(&instance, &own, &list.entries);
                // An issuer that a certificate names need not be in the list.
                let by_certificate = |issuer: &String| issuer.starts_with("x509_");
                let is_whole =
                    instance.anchors.is_empty() && !all.issuers.iter().any(by_certificate);
                is_whole.then(|| all.issuers.into_iter().collect())
            }
            None => None,
        };
        Ok(Standings {
            own,
            inactive,
            trusted,
        })
    }
}

impl Book {
    /// Whether the organisation takes credentials of this issuer that are known by one of these names: its own, and those
    /// that its verifier trusts for them.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn trusts(&self, issuer: &str, named: &[&String]) -> Result<bool> {
        let own = self.own_names();
        if own.iter().any(|own| own == issuer) {
            return Ok(true);
        }
        if self.books.inactive_issuers().await?.contains(issuer) {
            return Ok(false);
        }
        let instance = self.shared().trust.now();
        let Some(trust) = self.roles.trust() else {
            return Ok(false);
        };
        let list = trust.now().await?;
        let all = TrustInAll::of(&instance, &own, &list.entries);
        let is_known = all.issuers.iter().any(|one| one == issuer);
        let types = all.types.get(issuer);
        let is_of = |types: &Vec<String>| named.iter().any(|one| types.contains(one));
        Ok(is_known && types.is_none_or(is_of))
    }
}

impl Book {
    /// Whether entries of this issuer may still be relied on.
    ///
    /// # Errors
    /// The store's.
    pub async fn standing(&self, issuer: &str) -> Result<IssuerStanding> {
        Ok(self.standings(self.own_names()).await?.of(issuer))
    }
}

impl Standings {
    /// Whether entries of this issuer may still be relied on.
    pub fn of(&self, issuer: &str) -> IssuerStanding {
        if self.own.iter().any(|own| own == issuer) {
            return IssuerStanding::Good;
        }
        if self.inactive.contains(issuer) {
            return IssuerStanding::Suspended;
        }
        match &self.trusted {
            Some(trusted) if !trusted.contains(issuer) => IssuerStanding::Untrusted,
            _ => IssuerStanding::Good,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(of: &[&str]) -> HashSet<String> {
        of.iter().map(|&one| one.to_owned()).collect()
    }

    #[test]
    fn an_issuer_that_is_suspended_or_no_longer_trusted_is_marked() {
        let standings = Standings {
            own: vec!["did:example:own".to_owned()],
            inactive: Arc::new(set(&["did:example:suspended"])),
            trusted: Some(set(&["did:example:good", "did:example:suspended"])),
        };
        for (issuer, expected) in [
            ("did:example:own", IssuerStanding::Good),
            ("did:example:good", IssuerStanding::Good),
            ("did:example:suspended", IssuerStanding::Suspended),
            ("did:example:former", IssuerStanding::Untrusted),
        ] {
            assert_eq!(standings.of(issuer), expected, "{issuer}");
        }
        let by_certificate = Standings {
            trusted: None,
            ..standings
        };
        assert_eq!(
            by_certificate.of("https://issuer.example"),
            IssuerStanding::Good
        );
    }
}
