//! Settings of a wallet for many people: who may create one, and how much it keeps.

use selfsame_crypto::SecretString;
use selfsame_driver::Bound;
use selfsame_haip::WantedProfile;
use selfsame_openid4vc::wire::transaction::TransactionType;
use serde::{Deserialize, Serialize};

pub use selfsame_accounts::Registration;

/// The wallet's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WalletConfig {
    /// Who may create a wallet.
    pub registration: Registration,
    /// The profile that it keeps, whose rules are demanded of it at the start, and of issuers and verifiers.
    pub profile: Option<WantedProfile>,
    /// Whether it asks issuers for metadata that they have signed.
    pub signed_metadata: WantedMetadata,
    /// Maximum number of a person's keys, including those of DIDs.
    pub keys_max: Bound,
    /// Maximum number of a person's cards.
    pub cards_max: Bound,
    /// Maximum total size of a person's cards, in bytes.
    pub bytes_max: Bound,
    /// The identifier of the wallet at authorization servers, where people sign in to get credentials.
    pub client_id: String,
    /// The types of transactions that people can agree to by presenting a card, besides the ready ones.
    pub transaction_types: Vec<TransactionType>,
    /// Whether organisations keep rows of Indy wallets of the type "remote" here.
    pub remote_wallets: bool,
    /// The certificate chain of the wallet's attester, PEM, the leaf first, without the anchor; in a settings file, the
    /// path to it. Without one, issuers know the attester by its key.
    pub certificate: Option<String>,
    /// The key of the certificate, PKCS#8 in PEM; in a settings file, the path to it.
    #[serde(skip_serializing)]
    pub certificate_key: Option<SecretString>,
}

/// Whether a wallet asks issuers for metadata that they have signed (OpenID4VCI 1.0 §12.2.3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedMetadata {
    /// It does not.
    Off,
    /// It asks for them, and takes the others of issuers that have none.
    Asked,
    /// It takes no others.
    Required,
}

impl Default for WalletConfig {
    fn default() -> Self {
        Self {
            registration: Registration::Open,
            profile: None,
            signed_metadata: WantedMetadata::Off,
            keys_max: Bound::of(100),
            cards_max: Bound::of(1000),
            bytes_max: Bound::of(64 << 20),
            client_id: "selfsame-wallet".to_owned(),
            transaction_types: Vec::new(),
            remote_wallets: false,
            certificate: None,
            certificate_key: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(settings: Value) -> Result<WalletConfig, String> {
        serde_json::from_value(settings).map_err(|error| error.to_string())
    }

    #[test]
    fn a_wallet_keeps_so_much_or_is_unlimited() {
        let read = read(json!({ "keys_max": 7, "cards_max": "unlimited" })).unwrap();
        assert_eq!(read.keys_max.most(), Some(7));
        assert_eq!(read.cards_max, Bound::UNLIMITED);
        assert_eq!(read.bytes_max, WalletConfig::default().bytes_max);
        let again = serde_json::to_value(&read).unwrap();
        assert_eq!(
            (&again["keys_max"], &again["cards_max"]),
            (&7.into(), &"unlimited".into())
        );
    }

    #[test]
    fn a_wallet_in_which_nothing_can_be_kept_starts_nothing() {
        for (wrong, why) in [
            (
                json!(0),
                "0 is not above 0: set how much a person may keep, or \"unlimited\"",
            ),
            (json!(-5), "-5 is not above 0"),
            (
                json!("none"),
                "\"none\" is neither a number nor \"unlimited\"",
            ),
            (json!(true), "expected a number above 0 or \"unlimited\""),
        ] {
            let refused = read(json!({ "cards_max": wrong })).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
