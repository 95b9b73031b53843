//! The verifier's side: whether a presentation is valid and meets a definition.

use selfsame_anoncreds_w3c::presentation::{self, NamedCredential, ToRead};
use selfsame_anoncreds_w3c::request::{AskedDefinition, AskedOfCard, Valid};
use selfsame_driver::Result;
use selfsame_mediation::beside::BesideVerdict;
use serde_json::Value;

use super::IntegrityFormat;
use super::asking::JudgedSide;
use crate::definition::{DefinedRequest, Descriptor};
use crate::error::{malformed, read};
use crate::submission::{PRESENTED_MAX, Submission};

/// Seconds by which the clocks of a prover and of this machine may differ.
const SKEW: u64 = 60;

/// A presentation that is judged.
struct ShownPresentation {
    form: Value,
    submission: Submission,
    credentials: Vec<NamedCredential>,
}

impl IntegrityFormat {
    /// Whether a presentation is valid and meets each descriptor.
    pub(crate) async fn verified(
        &self,
        request: &DefinedRequest,
        presented: &[u8],
    ) -> Result<BesideVerdict> {
        let shown = match ShownPresentation::of(request, presented) {
            Ok(shown) => shown,
            Err(why) => return Ok(refused(why)),
        };
        let definition = &request.presentation_definition;
        let (mut asked, mut messages) = (Vec::new(), Vec::new());
        for descriptor in &definition.input_descriptors {
            match self.judged(&shown, descriptor).await? {
                Ok(one) => asked.push(one),
                Err(why) => messages.push(format!("{}: {why}", descriptor.id)),
            }
        }
        if !messages.is_empty() {
            return Ok(BesideVerdict {
                is_valid: false,
                messages,
            });
        }
        let challenge = request.options.challenge.as_deref();
        let derived = AskedDefinition {
            name: definition.name.as_deref(),
            challenge: challenge.ok_or_else(|| malformed(&"the request has no challenge"))?,
            asked: &asked,
        };
        let derived = derived.derived();
        let own = presentation::from_w3c(&ToRead {
            request: &derived.json,
            presentation: &shown.form,
            places: &derived.places,
        });
        let own = match own {
            Ok(own) => own,
            Err(why) => return Ok(refused(why.to_string())),
        };
        let verdict = self.anoncreds.verify(&derived.json, &own.json).await?;
        Ok(BesideVerdict {
            is_valid: verdict.is_valid,
            messages: verdict.messages,
        })
    }

    /// What is asked of the credential for a descriptor, or what is wrong with it.
    async fn judged(
        &self,
        shown: &ShownPresentation,
        descriptor: &Descriptor,
    ) -> Result<std::result::Result<AskedOfCard, &'static str>> {
        let Some(place) = shown.submission.place(&descriptor.id) else {
            return Ok(Err("nothing is presented"));
        };
        let (Some(named), Some(claims)) = (
            shown.credentials.get(place),
            shown.form["verifiableCredential"].get(place),
        ) else {
            return Ok(Err("nothing is presented"));
        };
        if !descriptor.meets(claims, JudgedSide::Shown) {
            return Ok(Err("the credential does not say what was asked for"));
        }
        let Ok(origin) = self.origin(&named.cred_def_id).await else {
            return Ok(Err("the credential definition is not in the registry"));
        };
        if origin.issuer_id != named.issuer {
            return Ok(Err("the credential definition is another issuer's"));
        }
        let now = self.shared.clock.now();
        let is_asked = descriptor.asks_for_status() && named.rev_reg_id.is_some();
        let valid = is_asked.then(|| Valid {
            from: now.0,
            to: now.plus(SKEW).0,
        });
        let asked = descriptor.asked(claims)?;
        Ok(Ok(AskedOfCard {
            cred_def_id: named.cred_def_id.clone(),
            place,
            valid,
            ..asked
        }))
    }
}

impl ShownPresentation {
    fn of(request: &DefinedRequest, presented: &[u8]) -> std::result::Result<Self, String> {
        let mut form: Value = read(presented).map_err(|why| why.to_string())?;
        let submission = form.as_object_mut();
        let submission = submission.and_then(|form| form.remove("presentation_submission"));
        let submission = submission.ok_or("the presentation has no submission")?;
        let submission: Submission =
            serde_json::from_value(submission).map_err(|why| why.to_string())?;
        if submission.definition_id != request.presentation_definition.id {
            return Err("the submission answers another definition".to_owned());
        }
        let credentials = presentation::credentials(&form).map_err(|why| why.to_string())?;
        match credentials.len() <= PRESENTED_MAX {
            true => Ok(Self {
                form,
                submission,
                credentials,
            }),
            false => Err("the submission has too many presentations".to_owned()),
        }
    }
}

fn refused(why: String) -> BesideVerdict {
    BesideVerdict {
        is_valid: false,
        messages: vec![format!("VALUE_ERROR::{why}")],
    }
}
