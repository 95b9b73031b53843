//! What a wallet of many people is told: who may have one, and how much is kept in it.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The wallet's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WalletConfig {
    /// Who may make a wallet.
    pub registration: Registration,
    /// Keys that a person may make, those of DIDs among them.
    pub keys_max: u64,
    /// Cards that a person may keep.
    pub cards_max: u64,
    /// Bytes that a person's cards may have together.
    pub bytes_max: u64,
}

/// Who may make a wallet.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// Anybody.
    Open,
    /// Whoever has a link that the operator made.
    Invite,
    /// Nobody; wallets that there are stay open.
    Closed,
}

impl Default for WalletConfig {
    fn default() -> Self {
        Self {
            registration: Registration::Open,
            keys_max: 100,
            cards_max: 1000,
            bytes_max: 64 << 20,
        }
    }
}

impl WalletConfig {
    /// Judges what the types of the settings leave open.
    ///
    /// # Errors
    /// `BadRequest`, with the setting and what to do.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("keys_max", self.keys_max),
            ("cards_max", self.cards_max),
            ("bytes_max", self.bytes_max),
        ] {
            if value == 0 {
                let what = format!("[wallet] {name}: a wallet in which nothing can be kept");
                return Err(Error::bad_request(what).with_hint("say how much a person may keep"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_in_which_nothing_can_be_kept_starts_nothing() {
        assert!(WalletConfig::default().check().is_ok());
        let refused = WalletConfig {
            cards_max: 0,
            ..WalletConfig::default()
        };
        assert!(refused.check().is_err());
    }
}
