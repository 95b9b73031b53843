//! The start page: the trust triangle, live.

use askama::Template;
use serde::Serialize;

use crate::Frame;
use crate::frame::RegistryPlace;

/// The start page.
#[derive(Template)]
#[template(path = "home.html")]
pub struct HomePage {
    /// What stands around it.
    pub frame: Frame,
    /// What it counts.
    pub tally: Tally,
}

impl HomePage {
    fn has_registry(&self) -> bool {
        self.frame.roles.registry != RegistryPlace::Nowhere
    }
}

/// Counts of the events that this process told since it started: numbers only. The page's stream sends the same.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Tally {
    /// Credentials issued.
    pub issued: u64,
    /// Credentials received by wallets here.
    pub received: u64,
    /// Presentations made by wallets here.
    pub presented: u64,
    /// Credentials suspended, reinstated or revoked.
    pub status_changed: u64,
    /// Transactions in the registry.
    pub anchored: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::InstanceRoles;

    #[test]
    fn the_start_page_leads_only_to_what_is_here() {
        let shown = |is_here: bool| {
            let mut frame = Frame::of_visitor();
            frame.roles = InstanceRoles {
                issuer: is_here,
                wallet: true,
                verifier: is_here,
                agent: false,
                registry: match is_here {
                    true => RegistryPlace::Here,
                    false => RegistryPlace::Nowhere,
                },
            };
            let tally = Tally::default();
            HomePage { frame, tally }.render().unwrap()
        };
        let (all, wallet_only) = (shown(true), shown(false));
        for path in ["/issuer", "/verifier", "/registry", "/issuer#issued"] {
            let link = format!("href=\"{path}\"");
            assert!(all.contains(&link), "{path}: {all}");
            assert!(!wallet_only.contains(&link), "{path}: {wallet_only}");
        }
        assert!(wallet_only.contains("href=\"/wallet\""));
    }
}
