//! Linked authorization: a wallet scans the code on a browser's screen, and the person goes on in the wallet.

use std::time::Duration;

use axum::response::Response;
use http::HeaderMap;
use selfsame_driver::Error;
use selfsame_http::extract::Raw;
use selfsame_identity::links::{CODE_SECONDS, LinkedAgreement};
use selfsame_sign_in::identity::SignInAttempt;
use selfsame_sign_in::view::{PersonsAgreement, SignInStage};
use selfsame_sign_in::{SignInVisitor, WantedOtp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::authorization::{CodeResponse, challenges, channels, consent_action};
use crate::codes::Coded;
use crate::details::LinkedDetails;
use crate::door::EsignetHere;
use crate::factors::AuthChallenge;
use crate::{codes, envelope};

/// How often the records are looked at in one call of a browser that waits for the wallet: another process may have
/// written them.
const LOOKS: u32 = 50;
/// How long after each other: the call lasts 25 seconds.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LinkRequest {
    transaction_id: String,
    link_code: String,
    linked_code: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LinkCode {
    transaction_id: String,
    link_code: String,
    expire_date_time: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LinkStatus {
    link_status: &'static str,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WalletRequest {
    /// The wallet's name for the sign-in.
    linked_transaction_id: String,
    /// The same, where the wallet has a code sent.
    transaction_id: String,
    individual_id: String,
    otp_channels: Vec<String>,
    challenge_list: Vec<AuthChallenge>,
    accepted_claims: Option<Vec<String>>,
    permitted_authorize_scopes: Option<Vec<String>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LinkedStep {
    linked_transaction_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    consent_action: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LinkedOtp {
    transaction_id: String,
    masked_email: Option<String>,
    masked_mobile: Option<String>,
}

/// Gives a browser a code for its screen.
pub async fn link_code(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let made = here.linked_call(&headers, &body, async |request: LinkRequest| {
        let transaction = request.transaction_id;
        // Only for a sign-in that is on its way.
        let visitor = here.visitor(&transaction);
        here.door
            .sign_ins
            .view(&visitor)
            .await
            .map_err(|error| codes::of(&error))?;
        let code = here
            .door
            .links
            .offer(&transaction)
            .await
            .map_err(exhausted)?;
        let end = here.door.clock.now().plus(CODE_SECONDS);
        Ok(LinkCode {
            transaction_id: transaction,
            link_code: code,
            expire_date_time: envelope::time(end),
        })
    });
    made.await
}

/// A wallet takes over the sign-in of a code.
pub async fn link_transaction(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let taken = here.linked_call(&headers, &body, async |request: LinkRequest| {
        let linked = here
            .door
            .links
            .take_over(&request.link_code)
            .await
            .map_err(invalid_code)?;
        here.details_of(linked).await
    });
    taken.await
}

/// Tells a browser whether its code was scanned, as soon as it was.
pub async fn link_status(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let status = here.linked_call(&headers, &body, async |request: LinkRequest| {
        here.until_scanned(&request).await?;
        Ok(LinkStatus {
            link_status: "LINKED",
        })
    });
    status.await
}

/// Gives a browser the code that its client redeems, as soon as the person has agreed in their wallet.
pub async fn link_auth_code(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let code = here.linked_call(&headers, &body, async |request: LinkRequest| {
        let transaction = &request.transaction_id;
        let agreement = here.until_agreed(&request).await?;
        let visitor = here.visitor(transaction);
        let landing = here.door.sign_ins.agree(&visitor, &agreement).await;
        CodeResponse::of(landing.map_err(|error| codes::of(&error))?)
    });
    code.await
}

/// Has a one-time password sent for a linked sign-in.
pub async fn send_otp(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let sent = here.linked_call(&headers, &body, async |request: WalletRequest| {
        let visitor = here.wallet(&request.transaction_id).await?;
        let wanted = WantedOtp {
            identifier: request.individual_id.as_str().into(),
            channels: channels(&request.otp_channels)?,
        };
        let sent = here.door.sign_ins.send_otp(&visitor, wanted).await;
        let sent = sent.map_err(|error| codes::of(&error))?;
        Ok(LinkedOtp {
            transaction_id: request.transaction_id,
            masked_email: sent.masked_email,
            masked_mobile: sent.masked_phone,
        })
    });
    sent.await
}

/// Authenticates the person of a linked sign-in.
pub async fn authenticate(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let proven = here.linked_call(&headers, &body, async |request: WalletRequest| {
        here.proven_in_wallet(request).await
    });
    proven.await
}

/// Keeps what the person agrees to in their wallet.
pub async fn consent(here: EsignetHere, headers: HeaderMap, Raw(body): Raw) -> Response {
    let kept = here.linked_call(&headers, &body, async |request: WalletRequest| {
        let agreement = LinkedAgreement {
            claims: request.accepted_claims.unwrap_or_default(),
            scopes: request.permitted_authorize_scopes.unwrap_or_default(),
        };
        let linked = request.linked_transaction_id;
        here.check_agreement(&linked, &agreement).await?;
        here.door
            .links
            .agree(&linked, agreement)
            .await
            .map_err(over)?;
        Ok(LinkedStep {
            linked_transaction_id: linked,
            consent_action: None,
        })
    });
    kept.await
}

impl EsignetHere {
    /// A call in its envelope, refused without its token against cross-site requests.
    async fn linked_call<Q: DeserializeOwned, A: Serialize>(
        &self,
        headers: &HeaderMap,
        body: &[u8],
        call: impl AsyncFnOnce(Q) -> Coded<A>,
    ) -> Response {
        if let Err(refusal) = self.let_in(headers) {
            return *refusal;
        }
        let now = self.door.clock.now();
        let answer = match envelope::request(body, now) {
            Ok(request) => call(request).await,
            Err(code) => Err(code),
        };
        envelope::answer(answer, self.door.clock.now())
    }

    /// The visitor of a wallet's half of a sign-in.
    async fn wallet(&self, linked: &str) -> Coded<SignInVisitor> {
        let linked = self.door.links.linked(linked).await.map_err(over)?;
        Ok(self.visitor(&linked.sign_in))
    }

    async fn details_of(&self, linked: String) -> Coded<LinkedDetails> {
        let visitor = self.wallet(&linked).await?;
        let view = self.door.sign_ins.view(&visitor).await;
        let view = view.map_err(|error| codes::of(&error))?;
        Ok(LinkedDetails::of(linked, &view, &self.door.settings))
    }

    /// Refuses what the browser could not end the sign-in with.
    async fn check_agreement(&self, linked: &str, agreement: &LinkedAgreement) -> Coded<()> {
        let visitor = self.wallet(linked).await?;
        let view = self.door.sign_ins.view(&visitor).await;
        let view = view.map_err(|error| codes::of(&error))?;
        if view.stage != SignInStage::Consent {
            return Err(codes::INVALID_TRANSACTION);
        }
        let given = &agreement.claims;
        let asked = |claim| view.essential.contains(claim) || view.voluntary.contains(claim);
        if !view.essential.iter().all(|one| given.contains(one)) || !given.iter().all(asked) {
            return Err("invalid_accepted_claim");
        }
        match agreement
            .scopes
            .iter()
            .all(|scope| view.scopes.contains(scope))
        {
            true => Ok(()),
            false => Err("invalid_permitted_scope"),
        }
    }

    /// Authenticates a person. If they agreed before, nothing is left to do in the wallet.
    async fn proven_in_wallet(&self, request: WalletRequest) -> Coded<LinkedStep> {
        let visitor = self.wallet(&request.linked_transaction_id).await?;
        let attempt = SignInAttempt {
            identifier: request.individual_id.as_str().into(),
            challenges: challenges(request.challenge_list)?,
        };
        let proven = self.door.sign_ins.authenticate(&visitor, attempt).await;
        let stage = proven.map_err(|error| codes::of(&error))?.sign_in.stage;
        if stage == SignInStage::Agreed {
            let agreement = LinkedAgreement::default();
            let links = &self.door.links;
            let kept = links.agree(&request.linked_transaction_id, agreement).await;
            kept.map_err(over)?;
        }
        Ok(LinkedStep {
            linked_transaction_id: request.linked_transaction_id,
            consent_action: Some(consent_action(stage)),
        })
    }

    /// Waits until a wallet has scanned a browser's code.
    async fn until_scanned(&self, request: &LinkRequest) -> Coded<()> {
        let (sign_in, code) = (&request.transaction_id, &request.link_code);
        for _ in 0..LOOKS {
            let scanned = self.door.links.scanned(sign_in, code).await;
            if scanned.map_err(invalid_code)?.is_some() {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err("response_timeout")
    }

    /// Waits until the person has agreed in their wallet.
    async fn until_agreed(&self, request: &LinkRequest) -> Coded<PersonsAgreement> {
        let (sign_in, code) = (&request.transaction_id, &request.linked_code);
        for _ in 0..LOOKS {
            if let Some(agreement) = self.agreed_in_wallet(sign_in, code).await? {
                return Ok(agreement);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err("response_timeout")
    }

    /// What was agreed to in the wallet that scanned a browser's code; `None` as long as nothing was.
    async fn agreed_in_wallet(&self, sign_in: &str, code: &str) -> Coded<Option<PersonsAgreement>> {
        let links = &self.door.links;
        let Some(linked) = links.scanned(sign_in, code).await.map_err(invalid_code)? else {
            return Err("invalid_link_code");
        };
        let linked = links.linked(&linked).await.map_err(over)?;
        let agreed = |agreement: LinkedAgreement| PersonsAgreement {
            claims: agreement.claims,
            scopes: agreement.scopes,
        };
        Ok(linked.agreement.map(agreed))
    }
}

fn invalid_code(error: Error) -> &'static str {
    match codes::of(&error) {
        codes::INVALID_TRANSACTION => "invalid_link_code",
        code => code,
    }
}

fn exhausted(error: Error) -> &'static str {
    match error.reason.id() {
        "link-codes-exhausted" => "link_code_limit_reached",
        _ => codes::of(&error),
    }
}

fn over(error: Error) -> &'static str {
    codes::of(&error)
}
