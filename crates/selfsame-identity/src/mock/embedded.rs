//! The mock identity system behind the seam, in this process.

use async_trait::async_trait;
use selfsame_crypto::SecretString;
use selfsame_oidc::FactorKind;
use selfsame_sign_in::identity::{
    AskingClient, Challenge, ClaimsOrder, IdentityFault, IdentityFaultKind, IdentitySystem,
    OtpChannel, OtpOrder, OtpSent, PersonClaims, ProvenPerson, SignInAttempt,
};

use super::wire::{KycAuthRequest, KycExchangeRequest, SendOtpRequest};
use super::{MockFault, MockIdentities};

/// The factors that it can check.
pub(super) const FACTORS: [FactorKind; 6] = [
    FactorKind::Otp,
    FactorKind::Pin,
    FactorKind::Password,
    FactorKind::Knowledge,
    FactorKind::Biometrics,
    FactorKind::LinkedWallet,
];

/// Between the two parts of a token of the seam.
const SEPARATOR: char = '\n';

#[async_trait]
impl IdentitySystem for MockIdentities {
    fn name(&self) -> &str {
        "mock"
    }

    fn factors(&self) -> Vec<FactorKind> {
        FACTORS.to_vec()
    }

    async fn send_otp(
        &self,
        asking: &AskingClient,
        order: &OtpOrder,
    ) -> Result<OtpSent, IdentityFault> {
        let receipt = MockIdentities::send_otp(self, &otp_request(asking, order)).await?;
        Ok(OtpSent {
            masked_email: receipt.masked_email,
            masked_phone: receipt.masked_mobile,
        })
    }

    async fn code_on_screen(
        &self,
        _asking: &AskingClient,
    ) -> Result<Option<SecretString>, IdentityFault> {
        Ok(self.0.config.codes_on_screen.then(|| super::OTP.into()))
    }

    async fn authenticate(
        &self,
        asking: &AskingClient,
        attempt: &SignInAttempt,
    ) -> Result<ProvenPerson, IdentityFault> {
        let request = auth_request(asking, attempt)?;
        let proven = self.kyc_auth(&asking.relying_party, &request).await?;
        proven_person(
            attempt,
            proven.kyc_token,
            proven.partner_specific_user_token,
        )
    }

    async fn exchange(
        &self,
        asking: &AskingClient,
        order: &ClaimsOrder,
    ) -> Result<PersonClaims, IdentityFault> {
        let request = exchange_request(asking, order)?;
        let subject = Some(order.subject.as_str());
        let signed = self
            .kyc_exchange(&asking.client_id, &request, subject)
            .await?;
        Ok(PersonClaims::Signed(signed.expose().to_owned()))
    }
}

/// The call that sends a one-time password.
pub(super) fn otp_request(asking: &AskingClient, order: &OtpOrder) -> SendOtpRequest {
    let channel = |channel: &OtpChannel| match channel {
        OtpChannel::Email => "email".to_owned(),
        OtpChannel::Phone => "phone".to_owned(),
    };
    SendOtpRequest {
        transaction_id: asking.transaction.clone(),
        individual_id: order.identifier.expose().to_owned(),
        otp_channels: order.channels.iter().map(channel).collect(),
    }
}

/// The call that authenticates a person.
pub(super) fn auth_request(
    asking: &AskingClient,
    attempt: &SignInAttempt,
) -> Result<KycAuthRequest, IdentityFault> {
    let mut request = KycAuthRequest {
        transaction_id: asking.transaction.clone(),
        individual_id: attempt.identifier.expose().to_owned(),
        ..KycAuthRequest::default()
    };
    for Challenge { factor, value, .. } in &attempt.challenges {
        let place = match factor {
            FactorKind::Otp => &mut request.otp,
            FactorKind::Pin => &mut request.pin,
            FactorKind::Password => &mut request.password,
            FactorKind::Biometrics => &mut request.biometrics,
            FactorKind::Knowledge => &mut request.kbi,
            FactorKind::LinkedWallet => {
                let tokens = request.tokens.get_or_insert_default();
                tokens.push(value.expose().to_owned());
                continue;
            }
            FactorKind::Totp
            | FactorKind::Presentation
            | FactorKind::Passkey
            | FactorKind::Upstream => {
                return Err(IdentityFault::new(IdentityFaultKind::Unsupported));
            }
        };
        *place = Some(value.expose().to_owned());
    }
    Ok(request)
}

/// The person, if the token and the subject are there. The token of the seam has the identifier too, which the exchange
/// needs.
pub(super) fn proven_person(
    attempt: &SignInAttempt,
    token: Option<String>,
    subject: Option<String>,
) -> Result<ProvenPerson, IdentityFault> {
    let wrong = || IdentityFault::new(IdentityFaultKind::WrongChallenge).with_code("auth_failed");
    let (token, subject) = (token.ok_or_else(wrong)?, subject.ok_or_else(wrong)?);
    let identifier = attempt.identifier.expose();
    Ok(ProvenPerson {
        handle: identifier.to_owned(),
        subject: Some(subject),
        token: SecretString::new(format!("{token}{SEPARATOR}{identifier}")),
        factors: attempt.challenges.iter().map(|one| one.factor).collect(),
    })
}

/// The call that exchanges a token for claims.
pub(super) fn exchange_request(
    asking: &AskingClient,
    order: &ClaimsOrder,
) -> Result<KycExchangeRequest, IdentityFault> {
    let unknown = || IdentityFault::new(IdentityFaultKind::WrongChallenge);
    let (token, identifier) = order
        .token
        .expose()
        .split_once(SEPARATOR)
        .ok_or_else(unknown)?;
    Ok(KycExchangeRequest {
        transaction_id: asking.transaction.clone(),
        kyc_token: token.to_owned(),
        individual_id: identifier.to_owned(),
        accepted_claims: Some(order.claims.clone()),
        claim_locales: Some(order.locales.clone()),
        ..KycExchangeRequest::default()
    })
}

/// The fault of a code of the mock identity system.
pub(super) fn fault(code: &str) -> IdentityFault {
    let kind = match code {
        "invalid_individual_id" => IdentityFaultKind::UnknownPerson,
        "no_email_mobile_found" => IdentityFaultKind::NoAddress,
        "invalid_otp_channel" | "auth-failed" => IdentityFaultKind::Malformed,
        "auth_failed"
        | "invalid_transaction"
        | "invalid_transaction_id"
        | "mock-ida-006"
        | "mock-ida-007" => IdentityFaultKind::WrongChallenge,
        _ => IdentityFaultKind::Unavailable,
    };
    IdentityFault::new(kind).with_code(code)
}

impl From<MockFault> for IdentityFault {
    fn from(mock: MockFault) -> Self {
        if let MockFault::Failed(error) = &mock {
            tracing::warn!(reason = %error, "the mock identity system failed");
        }
        fault(mock.code())
    }
}
