//! Members of the API whose values are words of a set, for its description. The use cases judge what is sent.

/// Who may create a wallet.
pub use selfsame_accounts::Registration;
use utoipa::ToSchema;

/// The status of a card.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum CardStatus {
    /// Valid.
    Valid,
    /// A single-use card that is used up.
    Spent,
    /// Revoked by its issuer.
    Revoked,
    /// Suspended by its issuer.
    Suspended,
    /// Expired.
    Expired,
    /// Not yet valid.
    NotYetValid,
    /// It could not be checked.
    Unknown,
}

/// The characters of a transaction code (OpenID4VCI 1.0 §4.1.1).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum TxCodeInput {
    /// Digits.
    Numeric,
    /// Any characters.
    Text,
}

/// How a wallet chooses cards in place of a person.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum AnswerPolicy {
    /// The newest card that fits.
    Newest,
}

/// What an entry of the history tells.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum HistoryKind {
    /// Cards were received.
    Received,
    /// Claims were shared.
    Shared,
    /// A request was declined.
    Declined,
    /// An offer or an answer failed.
    Failed,
}

/// How a verifier identifies itself (OpenID4VP 1.0 §5.9.3).
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum AskerPrefix {
    /// By the address that the answer is sent to.
    RedirectUri,
    /// By its DID.
    DecentralizedIdentifier,
    /// By the host of its certificate.
    X509SanDns,
    /// By the hash of its certificate.
    X509Hash,
    /// By an attestation of its key.
    VerifierAttestation,
    /// By the origin of its page, which a browser states.
    Origin,
}

#[cfg(test)]
mod tests {
    use selfsame_openid4vc::wire::request::ClientId;
    use utoipa::PartialSchema;

    use super::*;

    #[test]
    fn each_prefix_of_the_description_is_one_that_a_wallet_reads() {
        let schema = serde_json::to_value(AskerPrefix::schema()).unwrap();
        let described: Vec<String> = serde_json::from_value(schema["enum"].clone()).unwrap();
        let read = [
            "redirect_uri:https://shop.example/answer",
            "decentralized_identifier:did:web:shop.example",
            "x509_san_dns:shop.example",
            "x509_hash:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0",
            "verifier_attestation:shop.example",
        ];
        let read = read.map(|client| ClientId::parse(client).unwrap().prefix());
        assert_eq!(described[..5], read);
        assert_eq!(described[5..], ["origin"], "no request names it");
    }
}
