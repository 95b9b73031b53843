//! A row, and what may be in it.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use serde::{Deserialize, Serialize};

/// The longest name of a wallet, type or id, in characters: that of the service of 2018.
const NAME_MAX: usize = 255;
/// The longest value, in bytes.
const VALUE_MAX: usize = 256 << 10;

/// A row to create, or what an existing one becomes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewRow {
    /// The name of the wallet.
    pub wallet_name: String,
    /// The type of the item.
    pub item_type: String,
    /// The id of the item.
    pub item_id: String,
    /// The value, which is not looked into.
    pub item_value: String,
}

/// A row.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct WalletRow {
    /// Its number, which follows from its names.
    pub number: i64,
    /// When it was created.
    pub created: UnixTime,
    /// The name of the wallet.
    pub wallet_name: String,
    /// The type of the item.
    pub item_type: String,
    /// The id of the item.
    pub item_id: String,
    /// The value.
    pub item_value: String,
    /// The name of the API key by which it was created.
    pub creator: String,
}

impl NewRow {
    /// Refuses a row whose names or value do not fit.
    pub(crate) fn checked(&self) -> Result<()> {
        let names = [
            ("wallet_name", &self.wallet_name),
            ("item_type", &self.item_type),
            ("item_id", &self.item_id),
        ];
        for (field, name) in names {
            let length = name.chars().count();
            if !(1..=NAME_MAX).contains(&length) || name.chars().any(char::is_control) {
                return Err(Error::bad_request("remote-wallet-name")
                    .with("field", field)
                    .with("maximum", &NAME_MAX));
            }
        }
        match self.item_value.len() {
            1..=VALUE_MAX => Ok(()),
            _ => Err(Error::bad_request("remote-wallet-value").with("maximum", &VALUE_MAX)),
        }
    }
}

impl WalletRow {
    /// Whether it has these names.
    pub(crate) fn is_named(&self, wallet_name: &str, item_type: &str, item_id: &str) -> bool {
        self.wallet_name == wallet_name && self.item_type == item_type && self.item_id == item_id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_have_limits_and_are_not_empty() {
        let row = |name: &str, value: &str| NewRow {
            wallet_name: name.to_owned(),
            item_type: "claim".to_owned(),
            item_id: "1".to_owned(),
            item_value: value.to_owned(),
        };
        assert_eq!(row(&"ä".repeat(NAME_MAX), "x").checked(), Ok(()));
        assert_eq!(row("a", &"x".repeat(VALUE_MAX)).checked(), Ok(()));
        for (name, value) in [
            ("", "x".to_owned()),
            ("a\nb", "x".to_owned()),
            (&"a".repeat(NAME_MAX + 1), "x".to_owned()),
            ("a", String::new()),
            ("a", "x".repeat(VALUE_MAX + 1)),
        ] {
            assert!(row(name, &value).checked().is_err());
        }
    }
}
