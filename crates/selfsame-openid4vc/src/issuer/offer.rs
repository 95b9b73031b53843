//! Creates a credential offer (OpenID4VCI 1.0 §4.1).

use selfsame_crypto::{SecretString, ctx::Ctx, hash::sha256};

use super::{ExpectedTxCode, IssuerSettings, Offered};
use crate::{
    error::Error,
    wire::offer::{
        AuthorizationCode, CredentialOffer, Grants, InputMode, PreAuthorizedCode, TxCode,
    },
};

/// Number of digits in a transaction code.
const TX_CODE_DIGITS: u32 = 6;
/// How many wrong entries of a transaction code are tolerated.
const TX_CODE_ATTEMPTS: u32 = 5;

/// The parameters of a new offer.
#[derive(Clone, Debug)]
pub struct NewOffer {
    /// The application's identifier of the offer.
    pub offer_id: String,
    /// The credential configurations.
    pub configuration_ids: Vec<String>,
    /// How often the code can be redeemed. More than once is meant for demonstrations and for events where everyone
    /// scans the same code; OpenID4VCI 1.0 §4.1.1 defines single use only.
    pub uses: u32,
    /// If set, a transaction code is required, and this text tells the person about it; may be empty.
    pub tx_code: Option<String>,
    /// How long the code can be redeemed, in seconds.
    pub lifetime: u64,
    /// The authorization server that people sign in at, if the offer is for those; the code is then its `issuer_state`.
    pub sign_in: Option<String>,
}

/// A newly created offer.
#[derive(Clone, Debug)]
pub struct MadeOffer {
    /// The record to store.
    pub state: Offered,
    /// The offer to give to the wallet.
    pub offer: CredentialOffer,
    /// The transaction code to give to the person separately from the offer.
    pub tx_code: Option<SecretString>,
}

/// Creates an offer with a fresh code.
pub fn create(new: &NewOffer, settings: &IssuerSettings, ctx: &Ctx) -> Result<MadeOffer, Error> {
    let unknown = |id: &&String| settings.metadata.configuration(id).is_none();
    if let Some(id) = new.configuration_ids.iter().find(unknown) {
        return Err(Error::Setup(format!(
            "there is no credential configuration {id}"
        )));
    }
    if new.uses == 0 {
        return Err(Error::Setup(
            "an offer must allow at least one use".to_owned(),
        ));
    }
    let code = ctx.token("issuer/offer/code");
    let tx_code = new.tx_code.as_ref().map(|_| random_digits(ctx));
    let offer = CredentialOffer {
        credential_issuer: settings.metadata.credential_issuer.to_string(),
        credential_configuration_ids: new.configuration_ids.clone(),
        grants: Some(grants(new, &code)),
    };
    offer
        .check()
        .map_err(|problem| Error::Setup(problem.to_string()))?;
    let state = Offered {
        offer_id: new.offer_id.clone(),
        configuration_ids: new.configuration_ids.clone(),
        code_hash: code_hash(&code),
        uses_left: new.uses,
        tx_code: tx_code.as_ref().map(|tx_code| ExpectedTxCode {
            mac: tx_code_mac(settings, &new.offer_id, tx_code),
            attempts_left: TX_CODE_ATTEMPTS,
        }),
        expires: ctx.now().plus(new.lifetime),
    };
    Ok(MadeOffer {
        state,
        offer,
        tx_code,
    })
}

fn grants(new: &NewOffer, code: &str) -> Grants {
    if let Some(server) = &new.sign_in {
        let authorization_code = Some(AuthorizationCode {
            issuer_state: Some(code.to_owned()),
            authorization_server: Some(server.clone()),
        });
        return Grants {
            authorization_code,
            ..Grants::default()
        };
    }
    let tx_code = new.tx_code.as_ref().map(|description| TxCode {
        input_mode: InputMode::Numeric,
        length: Some(TX_CODE_DIGITS),
        description: (!description.is_empty()).then(|| description.clone()),
    });
    let pre_authorized_code = Some(PreAuthorizedCode {
        code: SecretString::from(code.to_owned()),
        tx_code,
        authorization_server: None,
    });
    Grants {
        pre_authorized_code,
        ..Grants::default()
    }
}

pub(super) fn tx_code_mac(
    settings: &IssuerSettings,
    offer_id: &str,
    tx_code: &SecretString,
) -> [u8; 32] {
    // The identifier goes first with its length, so that no two different pairs produce the same bytes.
    let id_length = u64::try_from(offer_id.len()).unwrap_or(u64::MAX);
    let mut data = id_length.to_be_bytes().to_vec();
    data.extend_from_slice(offer_id.as_bytes());
    data.extend_from_slice(tx_code.expose().as_bytes());
    settings.key.derive(b"transaction code").mac(&data)
}

/// The hash by which the record of an offer is found when its code is redeemed.
pub fn code_hash(code: &str) -> [u8; 32] {
    sha256(code.as_bytes())
}

fn random_digits(ctx: &Ctx) -> SecretString {
    let bound = 10_u64.saturating_pow(TX_CODE_DIGITS);
    let number = ctx.below("issuer/offer/tx_code", bound);
    let width = usize::try_from(TX_CODE_DIGITS).unwrap_or_default();
    SecretString::from(format!("{number:0width$}"))
}
